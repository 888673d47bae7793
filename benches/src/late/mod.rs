//! Measures true overlap of communication and computation. One figure is the time that ranks wait
//! for a rank that has started too, but computes now and calls nothing. The other is the remaining
//! wait if all ranks compute.

mod case;
mod rank;

pub(crate) use rank::{Args as RankArgs, run as run_rank};

use crate::measure::median;
use crate::mpi::bytes;
use crate::overlap::Contestants;
use crate::table;
use case::{Case, Who};
use clap::Args as ClapArgs;
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

/// `late`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    #[command(flatten)]
    contestants: Contestants,
    /// Number of ranks
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(2..))]
    ranks: u32,
    /// Bytes of the allreduce, multiples of 4
    #[arg(long, default_values_t = [8, 8 << 10, 1 << 20], value_delimiter = ',', value_parser = bytes)]
    size: Vec<u64>,
    /// Milliseconds that a rank computes
    #[arg(long, default_value_t = 100)]
    busy_ms: u64,
    /// Times that ranks compute in a run; ten times as many without
    #[arg(long, default_value_t = 5)]
    iterations: usize,
    /// Counted runs
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// Write every sample there, as lines of ranks, bytes, contestant, who computes, run, iteration
    /// and nanoseconds
    #[arg(long)]
    csv: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut built = args.contestants.build(folder.path())?;
    built.peers.retain(|peer| peer.library.can_run(args.ranks));
    let contestants = args.contestants.of(&built);
    let mut csv = String::from("ranks,bytes,contestant,computes,run,iteration,nanoseconds\n");
    let mut rows = Vec::new();
    for &bytes in &args.size {
        let cases = Who::ALL.map(|who| Case {
            who,
            bytes,
            busy_ns: args.busy_ms * 1_000_000,
            iterations: args.iterations * if who == Who::Nobody { 10 } else { 1 },
        });
        let mut samples = vec![[const { Vec::new() }; 4]; contestants.len()];
        for run in 1..=args.runs {
            for (&contestant, samples) in contestants.iter().zip(&mut samples) {
                let lines =
                    contestant.lines(args.ranks, args.contestants.memory, &cases, "late-rank")?;
                for (case, samples) in cases.iter().zip(samples) {
                    let figures = case.figures(args.ranks, lines.iter().map(String::as_str));
                    let figures = figures.map_err(io::Error::other)?;
                    for (iteration, ns) in (1..).zip(&figures) {
                        let (ranks, who, name) = (args.ranks, case.who.name(), contestant.name());
                        let _ =
                            writeln!(csv, "{ranks},{bytes},{name},{who},{run},{iteration},{ns:.0}");
                    }
                    samples.extend(figures);
                }
            }
        }
        for (&contestant, samples) in contestants.iter().zip(samples) {
            let [idle, cold, late, left] = samples.map(median);
            let us = |ns: f64| format!("{:.1}", ns / 1000.0);
            let mut row = vec![bytes.to_string(), contestant.name()];
            let of = |base: f64| format!("{:.2}", late / base);
            row.extend([us(idle), us(cold), us(late), of(idle), of(cold), us(left)]);
            rows.push(row);
        }
    }
    say!("median of {} runs of {} iterations on {} ranks", args.runs, args.iterations, args.ranks);
    let header = [
        "bytes",
        "by",
        "nobody computes, us",
        "all did before, us",
        "last rank computes, us",
        "of nobody",
        "of before",
        "all compute, still us",
    ];
    table::print(&header, &rows);
    match &args.csv {
        Some(path) => std::fs::write(path, csv),
        None => Ok(()),
    }
}
