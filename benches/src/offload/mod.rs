//! Barriers and allreduces whose actions run in the kernels of hosts, beside processes that do the
//! same over ESP, over UDP, and with MPI over TCP. Hosts are network namespaces of this machine.
//!
//! All contestants run the same rounds: the ranks wait for a point in time, write their operands,
//! call the operation and check its result. A round takes from the last rank's beginning to the
//! last rank's end, by the clock that all share.

mod busy;
mod contestant;
mod kernel;
mod rank;
mod rounds;
mod udp;
mod way;

pub(crate) use kernel::{InKernel, plan};
pub(crate) use rank::{Args as RankArgs, mac_of, run as run_rank};

use crate::host_jobs::Jobs;
use crate::host_peer::HostPeer;
use crate::library::{Libraries, ROUNDS};
use crate::table;
use busy::{Busy, Placement};
use clap::{Args as ClapArgs, ValueEnum};
use contestant::{Bench, Contestant};
use goal_cluster::{Cluster, Switch, Wiring};
use rounds::{Case, Figures};
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

/// The operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Operation {
    /// A dissemination barrier
    Barrier,
    /// A sum of 64-bit integers by recursive doubling
    Allreduce,
}

/// The load besides the ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Load {
    /// Nothing else runs
    Idle,
    /// A thread computes on each processor
    Busy,
}

/// `offload`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    #[command(flatten)]
    libraries: Libraries,
    /// Operations
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Operation::Barrier, Operation::Allreduce])]
    operation: Vec<Operation>,
    /// Numbers of hosts, a rank each; powers of two
    #[arg(long, value_delimiter = ',', default_values_t = [4, 8])]
    hosts: Vec<u32>,
    /// Bytes of the allreduce, multiples of 8
    #[arg(long, value_delimiter = ',', default_values_t = [8, 1 << 10, 8 << 10, 32 << 10])]
    size: Vec<u64>,
    /// Contestants
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Contestant::ALL)]
    by: Vec<Contestant>,
    /// The load besides the ranks
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Load::Idle, Load::Busy])]
    load: Vec<Load>,
    /// The processors that ranks, launchers and frames are on
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Placement::One, Placement::All])]
    processors: Vec<Placement>,
    /// Bytes of a frame behind Ethernet's header
    #[arg(long, default_value_t = 9000)]
    mtu: usize,
    /// Rounds of a run; the first twentieth does not count
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(20..))]
    rounds: u32,
    /// Microseconds from the beginning of a round to the next one's; 0: rounds follow each other
    #[arg(long, default_value_t = 1000)]
    period: u64,
    /// Runs, in which the contestants follow each other; the rounds of all count together
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// Write every round there, as lines of hosts, operation, bytes, load, processors, contestant,
    /// run, round and nanoseconds: until the end, and until the last call has returned
    #[arg(long)]
    csv: Option<PathBuf>,
}

/// A sample of a round.
struct Sample {
    ended_ns: f64,
    returned_ns: f64,
}

pub(crate) fn run(args: &Args) -> io::Result<()> {
    let jobs = Jobs::new()?;
    let peers = args.libraries.build(&ROUNDS, jobs.folder.path())?;
    let mut csv = String::from(
        "hosts,operation,bytes,load,processors,contestant,run,round,ended_ns,returned_ns\n",
    );
    let mut rows = Vec::new();
    for &hosts in &args.hosts {
        let wiring = Wiring { hosts: hosts as usize, mtu: args.mtu, switch: Switch::Bridge };
        let cluster = Cluster::new(&wiring).map_err(io::Error::other)?;
        let peer = peers.iter().find(|peer| peer.library.is_between_hosts());
        let folder = jobs.folder.path();
        let peer = peer.map(|peer| HostPeer::new(&cluster, peer, folder)).transpose()?;
        let bench = Bench { cluster: &cluster, jobs: &jobs, peer: peer.as_ref(), mtu: args.mtu };
        for &placement in &args.processors {
            for &load in &args.load {
                for &operation in &args.operation {
                    let sizes: &[u64] =
                        if operation == Operation::Barrier { &[0] } else { &args.size };
                    for &bytes in sizes {
                        let (rounds, period) = (args.rounds, args.period);
                        let case = Case { operation, bytes, rounds, period_us: period };
                        let samples = measure(args, &bench, placement, load, &case, &mut csv)?;
                        rows.extend(table_of(hosts, placement, load, &case, &samples));
                    }
                }
            }
        }
    }
    let (rounds, runs, mtu) = (args.rounds, args.runs, args.mtu);
    say!(
        "{runs} runs of {rounds} rounds, one each {} us; frames of {mtu} B; us from the last beginning",
        args.period
    );
    let header = [
        "hosts",
        "processors",
        "load",
        "operation",
        "bytes",
        "by",
        "end: median",
        "p99",
        "returned: median",
        "p99",
        "median of UDP's",
        "of MPI's",
        "p99 of UDP's",
        "returned: of UDP's",
        "of MPI's",
        "p99 of UDP's",
    ];
    table::print(&header, &rows);
    match &args.csv {
        Some(path) => std::fs::write(path, csv),
        None => Ok(()),
    }
}

/// Runs all contestants in turn. Returns each one's samples of all runs.
fn measure(
    args: &Args,
    bench: &Bench<'_>,
    placement: Placement,
    load: Load,
    case: &Case,
    csv: &mut String,
) -> io::Result<Vec<(Contestant, Vec<Sample>)>> {
    let runs_here = |by: &&Contestant| **by != Contestant::Mpi || bench.peer.is_some();
    let mut all: Vec<(Contestant, Vec<Sample>)> =
        args.by.iter().filter(runs_here).map(|&by| (by, Vec::new())).collect();
    let _busy = (load == Load::Busy).then(Busy::start).transpose()?;
    for run in 1..=args.runs {
        if run > 1 && !all.is_empty() {
            // None is always the first one.
            all.rotate_left(1);
        }
        for (by, samples) in &mut all {
            let rounds = placement.hold(|| bench.rounds(*by, case))?;
            for (round, sample) in rounds.iter().enumerate().skip(case.rounds as usize / 20) {
                let Sample { ended_ns, returned_ns } = *sample;
                let _ = writeln!(
                    csv,
                    "{},{},{},{},{},{},{run},{round},{ended_ns:.0},{returned_ns:.0}",
                    bench.cluster.hosts().len(),
                    name(case.operation),
                    case.bytes,
                    name(load),
                    name(placement),
                    name(*by),
                );
                samples.push(Sample { ended_ns, returned_ns });
            }
        }
    }
    all.sort_by_key(|(by, _)| args.by.iter().position(|other| other == by));
    Ok(all)
}

fn table_of(
    hosts: u32,
    placement: Placement,
    load: Load,
    case: &Case,
    all: &[(Contestant, Vec<Sample>)],
) -> Vec<Vec<String>> {
    let figures = |samples: &[Sample]| {
        let ended = Figures::from_values(samples.iter().map(|sample| sample.ended_ns));
        (ended, Figures::from_values(samples.iter().map(|sample| sample.returned_ns)))
    };
    let of = |wanted| {
        let found = all.iter().find(|(by, _)| *by == wanted);
        found.map_or(Figures { median: f64::NAN, p99: f64::NAN }, |(_, samples)| figures(samples).0)
    };
    let (udp, mpi) = (of(Contestant::Udp), of(Contestant::Mpi));
    let row = |(by, samples): &(Contestant, Vec<Sample>)| {
        let (ended, returned) = figures(samples);
        let us = |ns: f64| format!("{:.1}", ns / 1000.0);
        let ratio = |mine: f64, theirs: f64| match theirs.is_nan() {
            true => "-".to_owned(),
            false => format!("{:.2}", mine / theirs),
        };
        let mut row = vec![hosts.to_string(), name(placement), name(load)];
        row.extend([name(case.operation), case.bytes.to_string(), name(*by)]);
        row.extend([ended.median, ended.p99, returned.median, returned.p99].map(us));
        row.push(ratio(ended.median, udp.median));
        row.push(ratio(ended.median, mpi.median));
        row.push(ratio(ended.p99, udp.p99));
        row.push(ratio(returned.median, udp.median));
        row.push(ratio(returned.median, mpi.median));
        row.push(ratio(returned.p99, udp.p99));
        row
    };
    all.iter().map(row).collect()
}

/// The name on command lines and in raw data.
fn name(value: impl ValueEnum) -> String {
    value.to_possible_value().expect("all have names").get_name().to_owned()
}
