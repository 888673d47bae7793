//! Collective operations between hosts, each again and again without anything in between: over ESP
//! and over TCP, beside MPI's over TCP.

use crate::host_jobs::{Between, Jobs};
use crate::host_peer::HostPeer;
use crate::library;
use crate::measure::median;
use crate::mpi::Operation;
use crate::table;
use clap::{Args as ClapArgs, ValueEnum};
use goal_asm::{EncodeOptions, encode};
use goal_cluster::{Cluster, Switch, Wiring};
use goal_job::Named;
use goal_job::Wait;
use goal_run::named;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

/// The approximate time that the operations of a turn take together.
const TURN_NS: f64 = 4e8;
const ITERATIONS_MIN: u64 = 8;
const ITERATIONS_MAX: u64 = 20_000;

/// The transports of goal-run that are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Over {
    Esp,
    Tcp,
    Both,
}

impl Over {
    fn transports(self) -> &'static [(&'static str, Between)] {
        const ALL: [(&str, Between); 2] = [("esp", Between::Esp), ("tcp", Between::Tcp)];
        match self {
            Over::Esp => &ALL[..1],
            Over::Tcp => &ALL[1..],
            Over::Both => &ALL,
        }
    }
}

/// `collectives`' arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Operations
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Operation::Barrier, Operation::Allreduce, Operation::Gather])]
    operation: Vec<Operation>,
    /// Numbers of hosts, a rank each
    #[arg(long, value_delimiter = ',', default_values_t = [4, 8])]
    hosts: Vec<u32>,
    /// Bytes that each rank gives
    #[arg(long, value_delimiter = ',', default_values_t = [8, 1 << 10, 64 << 10, 1 << 20])]
    size: Vec<u64>,
    /// Bytes of a frame behind Ethernet's header
    #[arg(long, default_value_t = 1500)]
    mtu: usize,
    /// How the ranks of goal-run wait
    #[arg(long, value_parser = named::<Wait>(), default_value = "adaptive")]
    wait: Wait,
    /// Transports of goal-run
    #[arg(long, value_enum, default_value_t = Over::Both)]
    over: Over,
    /// Turns, in which all follow each other
    #[arg(long, default_value_t = 5)]
    turns: usize,
    /// Write every turn's results there, as lines of hosts, operation, bytes, contestant and
    /// nanoseconds
    #[arg(long)]
    csv: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> io::Result<()> {
    let jobs = Jobs::new()?;
    let folder = jobs.folder.path();
    let program = library::Peer::on_path(&library::COLLECTIVES, folder)?;
    let mut csv = String::from("hosts,operation,bytes,contestant,nanoseconds\n");
    let mut rows = Vec::new();
    for &hosts in &args.hosts {
        let wiring = Wiring { hosts: hosts as usize, mtu: args.mtu, switch: Switch::Bridge };
        let cluster = Cluster::new(&wiring).map_err(io::Error::other)?;
        let peer =
            program.as_ref().map(|program| HostPeer::new(&cluster, program, folder)).transpose()?;
        for &operation in &args.operation {
            let sizes: &[u64] = if operation == Operation::Barrier { &[0] } else { &args.size };
            for &bytes in sizes {
                let path = folder.join("program.nisa");
                let mut nisa = Vec::new();
                let program = operation.program_between_hosts(hosts, bytes);
                encode(&program, &EncodeOptions::default(), None, &mut nisa)
                    .map_err(io::Error::other)?;
                std::fs::write(&path, nisa)?;
                let case = Case { args, jobs: &jobs, cluster: &cluster, path: &path };
                let of_peer = |iterations| {
                    peer.as_ref().map(|peer| of_peer(peer, operation, bytes, iterations))
                };
                let medians = case.medians(of_peer, |name, ns| {
                    let _ = writeln!(csv, "{hosts},{},{bytes},{name},{ns:.1}", operation.name());
                })?;
                let mut row =
                    vec![hosts.to_string(), operation.name().to_owned(), bytes.to_string()];
                row.extend(cells(&medians));
                rows.push(row);
            }
        }
    }
    let mut header = ["hosts", "operation", "bytes", "blocking us", "non-blocking us"]
        .map(str::to_owned)
        .to_vec();
    for (name, _) in args.over.transports() {
        header.extend([format!("{name} us"), "ratio".to_owned()]);
    }
    table::print(&header.iter().map(String::as_str).collect::<Vec<_>>(), &rows);
    if let Some(path) = &args.csv {
        std::fs::write(path, csv)?;
    }
    Ok(())
}

/// Returns the cells of a row: the medians of both calls of the peer, and those of each transport
/// with its ratio to the faster call.
fn cells(medians: &[f64]) -> Vec<String> {
    let us = |ns: f64| format!("{:.1}", ns / 1e3);
    let (theirs, ours) = medians.split_at(2);
    let best = theirs[0].min(theirs[1]);
    let mut cells: Vec<String> = theirs.iter().map(|&ns| us(ns)).collect();
    for &ns in ours {
        cells.extend([us(ns), format!("{:.2}", ns / best)]);
    }
    cells
}

/// An operation of one size on the hosts of a test bench.
struct Case<'a> {
    args: &'a Args,
    jobs: &'a Jobs,
    cluster: &'a Cluster,
    /// The schedule.
    path: &'a Path,
}

impl Case<'_> {
    /// Returns the nanoseconds of one operation, as the mean of `iterations` operations in a row.
    fn of_schedule(&self, between: Between, iterations: u64) -> io::Result<f64> {
        let repeat = iterations.to_string();
        let arguments = ["--wait", self.args.wait.name(), "--repeat", &repeat, "--timeout", "120"];
        let hosts = self.cluster.hosts().len();
        let took_ns = self.jobs.run(self.cluster, between, hosts, self.path, &arguments)?;
        Ok(took_ns as f64 / iterations as f64)
    }

    /// Runs all contestants in turn. Returns the medians of the peer's blocking and non-blocking
    /// calls and of each transport. `note` gets each figure with its contestant.
    fn medians(
        &self,
        of_peer: impl Fn(u64) -> Option<io::Result<[f64; 2]>>,
        mut note: impl FnMut(&str, f64),
    ) -> io::Result<Vec<f64>> {
        let transports = self.args.over.transports();
        let first_ns = self.of_schedule(transports[0].1, ITERATIONS_MIN)?;
        let iterations = ((TURN_NS / first_ns) as u64).clamp(ITERATIONS_MIN, ITERATIONS_MAX);
        let mut samples = vec![Vec::new(); 2 + transports.len()];
        for _ in 0..self.args.turns {
            let [blocking, nonblocking] = of_peer(iterations).transpose()?.unwrap_or([f64::NAN; 2]);
            let mut turn = vec![("blocking", blocking), ("nonblocking", nonblocking)];
            for &(name, between) in transports {
                turn.push((name, self.of_schedule(between, iterations)?));
            }
            for ((name, ns), samples) in turn.into_iter().zip(&mut samples) {
                note(name, ns);
                samples.push(ns);
            }
        }
        Ok(samples.into_iter().map(median).collect())
    }
}

/// Nanoseconds of a blocking and of a non-blocking call, of `iterations` that follow each other.
fn of_peer(
    peer: &HostPeer<'_>,
    operation: Operation,
    bytes: u64,
    iterations: u64,
) -> io::Result<[f64; 2]> {
    let lines = peer.run(&[operation.name().to_owned(), format!("{bytes}:{iterations}")])?;
    let of = |way: &str| {
        let line = lines.iter().find_map(|line| line.strip_prefix(&format!("{bytes} {way} ")));
        let said = || io::Error::other(format!("{}: {}", peer.name(), lines.join("; ")));
        line.and_then(|ns| ns.trim().parse().ok()).ok_or_else(said)
    };
    Ok([of("blocking")?, of("nonblocking")?])
}
