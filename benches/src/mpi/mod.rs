//! Collective operations between processes on this machine, beside Open MPI's or MPICH's, as the
//! thesis measures them (6.5): a barrier, the same for both sides, before every operation; the mean
//! over the ranks; the median over the runs, which alternate.

mod rank;
mod schedules;

pub(crate) use rank::{Args as RankArgs, run as run_rank};
pub(crate) use schedules::Operation;

use crate::job::{Job, Page, crowded, mpirun};
use crate::measure::median;
use crate::mpicc;
use crate::table;
use clap::Args as ClapArgs;
use goal_run::job::Mode;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

/// `mpi`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Operations
    #[arg(long, value_enum, default_values_t = Operation::ALL)]
    operation: Vec<Operation>,
    /// Numbers of ranks
    #[arg(long, default_values_t = [2, 4])]
    ranks: Vec<u32>,
    /// Bytes that each rank gives, to each other rank in an alltoall
    #[arg(long, default_values_t = [8, 1 << 10, 64 << 10, 1 << 20, 4 << 20])]
    size: Vec<u64>,
    /// Mode in which the schedules make progress
    #[arg(long, value_enum, default_value_t)]
    progress: Mode,
    /// Counted runs
    #[arg(long, default_value_t = 7)]
    runs: usize,
    /// Write every sample there, as lines of ranks, operation, bytes, contestant, run and
    /// nanoseconds
    #[arg(long)]
    csv: Option<PathBuf>,
}

/// Ranks, operation and bytes.
type Case = (u32, Operation, u64);

pub(crate) fn run(args: &Args) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let peer = mpicc::build(&mpicc::COLLECTIVES, folder.path())?.map(Peer);
    let mut csv = String::from("ranks,operation,bytes,contestant,run,nanoseconds\n");
    let mut rows = Vec::new();
    for &ranks in &args.ranks {
        for &operation in args
            .operation
            .iter()
            .filter(|&&operation| operation != Operation::Pingpong || ranks == 2)
        {
            let sizes: &[u64] = if operation == Operation::Barrier { &[0] } else { &args.size };
            let mut samples: BTreeMap<(u64, String), Vec<f64>> = BTreeMap::new();
            for run in 0..=args.runs {
                let mut round = Vec::new();
                if let Some(peer) = &peer {
                    round.extend(peer.run(operation, ranks, sizes)?);
                }
                for &bytes in sizes {
                    round.push((
                        bytes,
                        "schedule".to_owned(),
                        run_schedule((ranks, operation, bytes), args.progress)?,
                    ));
                }
                for (bytes, contestant, ns) in round.into_iter().filter(|_| run > 0) {
                    let _ = writeln!(
                        csv,
                        "{ranks},{},{bytes},{contestant},{run},{ns:.1}",
                        operation.name()
                    );
                    samples.entry((bytes, contestant)).or_default().push(ns);
                }
            }
            rows.extend(sizes.iter().map(|&bytes| row((ranks, operation, bytes), &samples)));
        }
    }
    let header = [
        "ranks",
        "operation",
        "bytes",
        "blocking us",
        "non-blocking us",
        "schedule us",
        "least",
        "most",
        "ratio",
    ];
    table::print(&header, &rows);
    if let Some(path) = &args.csv {
        std::fs::write(path, csv)?;
    }
    Ok(())
}

fn row(
    (ranks, operation, bytes): Case,
    samples: &BTreeMap<(u64, String), Vec<f64>>,
) -> Vec<String> {
    let of = |name: &str| samples.get(&(bytes, name.to_owned())).cloned().unwrap_or_default();
    let [blocking, nonblocking] = ["blocking", "nonblocking"].map(of);
    let mine = of("schedule");
    let middle = |samples: &[f64]| (!samples.is_empty()).then(|| median(samples.to_vec()));
    let us = |ns: Option<f64>| ns.map_or("-".to_owned(), |ns| format!("{:.2}", ns / 1000.0));
    let (least, most) =
        mine.iter().fold((f64::MAX, 0f64), |(least, most), &ns| (least.min(ns), most.max(ns)));
    let faster = [&blocking, &nonblocking]
        .into_iter()
        .filter_map(|samples| middle(samples))
        .reduce(f64::min);
    let ratio = faster
        .zip(middle(&mine))
        .map_or("-".to_owned(), |(peer, mine)| format!("{:.2}", mine / peer));
    vec![
        ranks.to_string(),
        operation.name().to_owned(),
        bytes.to_string(),
        us(middle(&blocking)),
        us(middle(&nonblocking)),
        us(middle(&mine)),
        us(Some(least)),
        us(Some(most)),
        ratio,
    ]
}

/// The number of times that an operation is timed in a run.
fn iterations(operation: Operation, ranks: u32, bytes: u64) -> u32 {
    let blocks = match operation {
        Operation::Alltoall | Operation::Allgather | Operation::Gather => u64::from(ranks),
        _ => 1,
    };
    (100_000_000 / (bytes * blocks + 20_000)).clamp(20, 4_000) as u32
}

/// Returns the mean over the ranks in nanoseconds; for a ping-pong, half of rank 0's time.
fn run_schedule((ranks, operation, bytes): Case, progress: Mode) -> io::Result<f64> {
    let iterations = iterations(operation, ranks, bytes);
    let arguments = [
        format!("--operation={}", operation.name()),
        format!("--bytes={bytes}"),
        format!("--iterations={iterations}"),
        format!("--progress={}", progress.name()),
    ];
    let printed = Job::new(&operation.program(ranks, bytes))?.run("mpi-rank", &arguments)?;
    let mean = |text: &String| text.trim().parse::<f64>().map_err(io::Error::other);
    let means = printed.iter().map(mean).collect::<io::Result<Vec<_>>>()?;
    Ok(match operation {
        Operation::Pingpong => means[0] / 2.0,
        _ => means.iter().sum::<f64>() / f64::from(ranks),
    })
}

/// The peer's program, compiled.
struct Peer(PathBuf);

impl Peer {
    /// Bytes, the call and the mean over the ranks in nanoseconds, of both calls at each size.
    fn run(
        &self,
        operation: Operation,
        ranks: u32,
        sizes: &[u64],
    ) -> io::Result<Vec<(u64, String, f64)>> {
        let page = Page::new()?;
        let mut arguments = vec![operation.name().to_owned(), page.path().display().to_string()];
        arguments.push(u32::from(crowded(ranks)).to_string());
        arguments.extend(
            sizes.iter().map(|&bytes| format!("{bytes}:{}", iterations(operation, ranks, bytes))),
        );
        let parse = |line: &String| {
            let mut words = line.split_whitespace();
            Some((
                words.next()?.parse().ok()?,
                words.next()?.to_owned(),
                words.next()?.parse().ok()?,
            ))
        };
        let lines = mpirun(ranks, &self.0, &arguments)?;
        let rows: Option<Vec<_>> = lines.iter().map(parse).collect();
        rows.filter(|rows| rows.len() == 2 * sizes.len())
            .ok_or_else(|| io::Error::other(lines.join("\n")))
    }
}
