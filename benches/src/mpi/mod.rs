//! Compares operations between processes of this machine: schedules, calls of libgoal, and calls of
//! MPI libraries.
//!
//! The operations are measured as in the thesis (6.5). All contestants pass the same barrier before
//! each timed operation. A figure is the mean over the ranks and the median over the runs, and runs
//! of the contestants alternate. Operands are written before an operation and results are read
//! after it.

mod args;
mod bench;
mod calls;
mod limits;
mod manner;
mod operands;
mod operation;
mod plan;
mod programs;
mod rank;
mod replay;
mod report;
mod samples;
mod schedules;

pub(crate) use args::{Args, RANKS_MAX, bytes};
pub(crate) use calls::{Calls, parsed, right};
pub(crate) use manner::Manner;
pub(crate) use operands::Operands;
pub(crate) use operation::Operation;
pub(crate) use rank::{Args as RankArgs, run as run_rank};
pub(crate) use report::{Figures, Group, groups};
pub(crate) use samples::{By, Memory, Row, Sample, WAYS, append};

use bench::Bench;
use std::io::{self, IsTerminal};

pub(crate) fn run(args: &Args) -> io::Result<()> {
    if !args.from.is_empty() {
        let (samples, notes) = samples::read(&args.from)?;
        report::print(&samples, &notes);
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let bench = Bench::new(args, folder.path())?;
    let notes = bench.notes();
    if let Some(path) = &args.csv {
        append(path, &[], &notes)?;
    }
    let cases = bench.cases(args);
    if cases.is_empty() || !cases[0].manner.is_plain() && bench.library.is_empty() {
        let text = "nothing to measure: only single calls of libgoal are performed in this manner";
        return Err(io::Error::other(text));
    }
    let mut samples = Vec::new();
    for (index, &case) in cases.iter().enumerate() {
        // A line that is drawn again and again would take time from the ranks.
        if io::stderr().is_terminal() {
            eprintln!("{} of {}: {}", index + 1, cases.len(), bench.row(case, 0));
        }
        let of_case = bench.run(case, args, samples.is_empty())?;
        if let Some(path) = &args.csv {
            append(path, &of_case, &[])?;
        }
        samples.extend(of_case);
    }
    report::print(&samples, &notes);
    Ok(())
}
