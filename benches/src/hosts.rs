//! Jobs on several hosts of a test bench whose switch loses, doubles, delays or damages frames:
//! each verified, with the time it took.

use crate::host_jobs::{Between, Jobs};
use crate::table;
use clap::Args as ClapArgs;
use goal_cluster::{Cluster, Faults, Switch, Wiring};
use goalc::driver::{Options, compile};
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

/// `hosts`' arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Programs
    #[arg(required = true)]
    programs: Vec<PathBuf>,
    /// Number of hosts
    #[arg(long, default_values_t = [4, 8], value_delimiter = ',')]
    hosts: Vec<usize>,
    /// Runs of each, of which the median counts
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    turns: u32,
    /// Write every run there, as lines of program, hosts, faults, milliseconds of the schedule and
    /// of the whole command
    #[arg(long)]
    csv: Option<PathBuf>,
}

const NONE: Faults = Faults {
    lost: 0,
    burst: 0,
    burst_frames: 0,
    doubled: 0,
    delayed: 0,
    delay_ns: 0,
    damaged: 0,
    lost_from: 0,
};

/// The switches, with their faults.
const SWITCHES: [(&str, Option<Faults>); 7] = [
    ("bridge", None),
    ("switch", Some(NONE)),
    ("1 % lost", Some(Faults { lost: 10_000, ..NONE })),
    ("10 % lost", Some(Faults { lost: 100_000, ..NONE })),
    ("30 % lost", Some(Faults { lost: 300_000, ..NONE })),
    (
        "5 % doubled, 5 % late",
        Some(Faults { doubled: 50_000, delayed: 50_000, delay_ns: 100_000, ..NONE }),
    ),
    ("1 % damaged", Some(Faults { damaged: 10_000, ..NONE })),
];

pub(crate) fn run(args: &Args) -> io::Result<()> {
    let jobs = Jobs::new()?;
    let ranks = args.programs.iter().map(|path| num_ranks(path)).collect::<io::Result<Vec<_>>>()?;
    let mut failures = Vec::new();
    let mut csv = String::from("program,hosts,faults,ms,whole_ms\n");
    for &hosts in &args.hosts {
        let on: Vec<usize> = ranks.iter().map(|&ranks| ranks.min(hosts)).collect();
        let mut rows: Vec<Vec<String>> = args
            .programs
            .iter()
            .zip(&on)
            .map(|(path, on)| vec![name(path), on.to_string()])
            .collect();
        for (faults_name, faults) in SWITCHES {
            let switch = faults.map_or(Switch::Bridge, |faults| Switch::Faulty(faults, 1));
            let wiring = Wiring { switch, ..Wiring::bridge(hosts) };
            let cluster = Cluster::new(&wiring).map_err(io::Error::other)?;
            for ((program, row), &on) in args.programs.iter().zip(&mut rows).zip(&on) {
                let mut took_ns = Vec::new();
                for _ in 0..args.turns {
                    let started = std::time::Instant::now();
                    match jobs.run(
                        &cluster,
                        Between::Esp,
                        on,
                        program,
                        &["--verify", "--timeout", "60"],
                    ) {
                        Ok(ns) => {
                            let (ms, whole_ms) = (ns as f64 / 1e6, started.elapsed().as_millis());
                            let _ = writeln!(
                                csv,
                                "{},{on},{faults_name},{ms},{whole_ms}",
                                name(program)
                            );
                            took_ns.push(ns);
                        }
                        Err(failure) => {
                            failures.push(format!("{faults_name}, {on} hosts: {failure}"))
                        }
                    }
                }
                took_ns.sort_unstable();
                let median = took_ns.get(took_ns.len() / 2);
                row.push(
                    median.map_or("failed".to_owned(), |&ns| format!("{:.2}", ns as f64 / 1e6)),
                );
            }
        }
        say!("milliseconds on up to {hosts} hosts, median of {} runs, each verified", args.turns);
        let names = SWITCHES.map(|(name, _)| name);
        table::print(&[&["program", "hosts"], names.as_slice()].concat(), &rows);
    }
    if let Some(path) = &args.csv {
        std::fs::write(path, csv)?;
    }
    if failures.is_empty() { Ok(()) } else { Err(io::Error::other(failures.join("\n"))) }
}

fn num_ranks(path: &Path) -> io::Result<usize> {
    let compiled = compile(&[path.to_owned()], &Options { check: false, ..Options::default() });
    compiled
        .map(|compiled| compiled.nisa.num_ranks() as usize)
        .map_err(|error| io::Error::other(error.to_string()))
}

fn name(path: &Path) -> String {
    path.file_stem().map_or(String::new(), |name| name.to_string_lossy().into_owned())
}
