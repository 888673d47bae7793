//! Round trips between two hosts of a test bench: raw frames by each driver, UDP and TCP, over the
//! same wire with the same frames, waiting and placement.

mod way;

use crate::table;
use clap::{Args as ClapArgs, ValueEnum};
use goal_cluster::{Cluster, Switch, Wiring};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use std::time::Instant;
use way::{Kind, Way};
pub(crate) use way::{LIMIT, tcp_pair};

/// `frames`' arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Bytes of payload
    #[arg(long, default_values_t = [8, 64, 1024])]
    sizes: Vec<usize>,
    /// Round trips of each way in a turn
    #[arg(long, default_value_t = 5000, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Turns, in which all ways follow each other
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    turns: u32,
    /// Bytes of a frame behind Ethernet's header
    #[arg(long, default_value_t = 1500)]
    mtu: usize,
    /// Write every turn's median there, as lines of placement, waiting, bytes, way and nanoseconds
    #[arg(long)]
    csv: Option<PathBuf>,
}

/// The way in which both sides wait, and the processors that they run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Setting {
    SpinTwo,
    BlockTwo,
    BlockOne,
}

impl Setting {
    pub(crate) const ALL: [Self; 3] = [Self::SpinTwo, Self::BlockTwo, Self::BlockOne];

    pub(crate) fn spins(self) -> bool {
        self == Self::SpinTwo
    }

    pub(crate) fn processors(self) -> [usize; 2] {
        if self == Self::BlockOne { [0, 0] } else { [0, 1] }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::SpinTwo => "two processors, spinning",
            Self::BlockTwo => "two processors, blocking",
            Self::BlockOne => "one processor, blocking",
        }
    }
}

pub(crate) fn run(args: &Args) -> io::Result<()> {
    let wiring = Wiring { hosts: 2, mtu: args.mtu, switch: Switch::Wire };
    let cluster = Cluster::new(&wiring).map_err(io::Error::other)?;
    let mut csv = String::from("setting,bytes,way,ns\n");
    let mut rows = Vec::new();
    for setting in Setting::ALL {
        for &size in &args.sizes {
            let mut medians_ns = [const { Vec::new() }; Kind::ALL.len()];
            for _ in 0..args.turns {
                for (kind, medians_ns) in Kind::ALL.into_iter().zip(&mut medians_ns) {
                    let ns = turn(&cluster, kind, setting, size, args.rounds)?;
                    let _ = writeln!(csv, "{},{size},{},{ns}", setting.name(), kind.name());
                    medians_ns.push(ns);
                }
            }
            let us = medians_ns.map(|mut ns| format!("{:.2}", median(&mut ns) as f64 / 1e3));
            rows.push([vec![setting.name().to_owned(), size.to_string()], us.into()].concat());
        }
    }
    say!(
        "microseconds a round trip, median of {} turns' medians, {} bytes a frame",
        args.turns,
        args.mtu
    );
    let names = Kind::ALL.map(Kind::name);
    table::print(&[&["setting", "bytes"], names.as_slice()].concat(), &rows);
    match &args.csv {
        Some(path) => std::fs::write(path, csv),
        None => Ok(()),
    }
}

pub(crate) fn median(values: &mut [u64]) -> u64 {
    values.sort_unstable();
    values[values.len() / 2]
}

/// Returns the median round trip in nanoseconds.
fn turn(
    cluster: &Cluster,
    kind: Kind,
    setting: Setting,
    size: usize,
    rounds: u32,
) -> io::Result<u64> {
    let (asks, answers) = way::pair(cluster, kind, setting.spins())?;
    let [here, there] = setting.processors();
    let warm_up = rounds / 10;
    std::thread::scope(|scope| {
        let answering = scope.spawn(move || {
            pin(there)?;
            answer(answers, size, rounds + warm_up)
        });
        let asking = scope.spawn(move || {
            pin(here)?;
            ask(asks, size, warm_up, rounds)
        });
        let result = asking.join().expect("asking does not panic");
        answering.join().expect("answering does not panic")?;
        result
    })
}

pub(crate) fn pin(processor: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(processor)?;
    Ok(sched_setaffinity(Pid::from_raw(0), &set)?)
}

fn ask(mut way: Way, size: usize, warm_up: u32, rounds: u32) -> io::Result<u64> {
    let (mut payload, mut answer) = (vec![0; size], vec![0; size]);
    let mut ns = Vec::with_capacity(rounds as usize);
    for round in 0..warm_up + rounds {
        payload.fill(round as u8);
        let start = Instant::now();
        way.send(&payload)?;
        way.receive(&mut answer)?;
        if round >= warm_up {
            ns.push(start.elapsed().as_nanos() as u64);
        }
        if answer != payload {
            return Err(io::Error::other("another answer than the question"));
        }
    }
    Ok(median(&mut ns))
}

fn answer(mut way: Way, size: usize, rounds: u32) -> io::Result<()> {
    let mut payload = vec![0; size];
    for _ in 0..rounds {
        way.receive(&mut payload)?;
        way.send(&payload)?;
    }
    Ok(())
}
