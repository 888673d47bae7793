//! Collective operations between hosts, each again and again without anything in between, beside
//! MPI's over TCP.

use crate::host_jobs::Jobs;
use crate::host_peer::HostPeer;
use crate::library;
use crate::measure::median;
use crate::mpi::Operation;
use crate::table;
use clap::Args as ClapArgs;
use goal_asm::{EncodeOptions, encode};
use goal_cluster::{Cluster, Switch, Wiring};
use goal_run::job::Wait;
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

/// The approximate time that the operations of a turn take together.
const TURN_NS: f64 = 4e8;
const ITERATIONS_MIN: u64 = 8;
const ITERATIONS_MAX: u64 = 20_000;

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
    #[arg(long, value_enum, default_value_t = Wait::Block)]
    wait: Wait,
    /// Turns, in which both follow each other
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
    let wait = clap::ValueEnum::to_possible_value(&args.wait).expect("all have names");
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
                encode(
                    &operation.program_between_hosts(hosts, bytes),
                    &EncodeOptions::default(),
                    None,
                    &mut nisa,
                )
                .map_err(io::Error::other)?;
                std::fs::write(&path, nisa)?;
                let mine = |iterations: u64| {
                    let repeat = iterations.to_string();
                    let arguments =
                        ["--wait", wait.get_name(), "--repeat", &repeat, "--timeout", "120"];
                    let took_ns = jobs.run(&cluster, hosts as usize, &path, &arguments)?;
                    Ok::<f64, io::Error>(took_ns as f64 / iterations as f64)
                };
                let iterations = (TURN_NS / mine(ITERATIONS_MIN)?) as u64;
                let iterations = iterations.clamp(ITERATIONS_MIN, ITERATIONS_MAX);
                let mut samples: [Vec<f64>; 3] = Default::default();
                for _ in 0..args.turns {
                    let theirs =
                        peer.as_ref().map(|peer| of_peer(peer, operation, bytes, iterations));
                    let [blocking, nonblocking] = theirs.transpose()?.unwrap_or([f64::NAN; 2]);
                    let turn = [blocking, nonblocking, mine(iterations)?];
                    for ((name, ns), samples) in
                        ["blocking", "nonblocking", "schedule"].iter().zip(turn).zip(&mut samples)
                    {
                        let _ =
                            writeln!(csv, "{hosts},{},{bytes},{name},{ns:.1}", operation.name());
                        samples.push(ns);
                    }
                }
                let [blocking, nonblocking, schedule] = samples.map(median);
                let mut row =
                    vec![hosts.to_string(), operation.name().to_owned(), bytes.to_string()];
                row.extend([blocking, nonblocking, schedule].map(|ns| format!("{:.1}", ns / 1e3)));
                row.push(format!("{:.2}", schedule / blocking.min(nonblocking)));
                rows.push(row);
            }
        }
    }
    let header =
        ["hosts", "operation", "bytes", "blocking us", "non-blocking us", "schedule us", "ratio"];
    table::print(&header, &rows);
    if let Some(path) = &args.csv {
        std::fs::write(path, csv)?;
    }
    Ok(())
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
