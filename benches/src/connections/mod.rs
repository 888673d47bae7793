//! Measures latency and bandwidth between two ranks over TCP while each has many other connections
//! that are idle. The cost of a message must not depend on their number (O2G, section 5).
//!
//! Both ranks are threads of this process, each with a processor and the transport that ranks of
//! goal-run have. The other end of an idle connection is a socket that has proved the job's key and
//! is not read again.

mod idle;
mod pair;
mod report;

use crate::job::processors;
use crate::mpi::bytes;
use clap::{Args as ClapArgs, ValueEnum};
use goal_job::limits::raise_open_files;
use pair::Pair;
pub(crate) use report::CSV_HEADER;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

/// `connections`' arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Numbers of other connections of each rank; ratios are to the first
    #[arg(long, value_delimiter = ',', default_values_t = [1, 10, 100, 1000, 4000],
        value_parser = clap::value_parser!(u32).range(0..=CONNECTIONS_MAX))]
    connections: Vec<u32>,
    /// Bytes of the messages of a stream; multiples of 4
    #[arg(long, value_delimiter = ',', value_parser = bytes, default_values_t = [64 << 10, 1 << 20])]
    size: Vec<u64>,
    /// How a rank waits
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Wait::Spin, Wait::Sleep])]
    wait: Vec<Wait>,
    /// Round trips of which the median counts
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    trips: u32,
    /// Streams of which the median counts
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    streams: u32,
    /// Turns, in each of which all numbers of connections follow each other
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    turns: u32,
    /// Write every turn's results there, as lines of wait, figure, bytes, connections, turn and
    /// value: microseconds or MB/s
    #[arg(long)]
    csv: Option<PathBuf>,
}

/// The most other connections of each rank. A connection takes two open files of this process.
const CONNECTIONS_MAX: i64 = 1 << 20;

/// The way in which a rank waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Wait {
    /// It polls.
    Spin,
    /// It sleeps until the system tells that something has arrived.
    Sleep,
}

impl Wait {
    fn name(self) -> &'static str {
        match self {
            Wait::Spin => "spin",
            Wait::Sleep => "sleep",
        }
    }
}

/// The figures that are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Figure {
    /// Half a round trip of 8 B, in microseconds.
    Latency,
    /// A stream of messages of this many bytes with an answer at its end, in MB/s.
    Bandwidth(u64),
}

impl Figure {
    /// Returns the name, and the bytes of a message.
    fn named(self) -> (&'static str, u64) {
        match self {
            Figure::Latency => ("latency", pair::PING_BYTES as u64),
            Figure::Bandwidth(bytes) => ("bandwidth", bytes),
        }
    }
}

/// A figure of one turn.
#[derive(Debug, Clone, PartialEq)]
struct Sample {
    wait: &'static str,
    figure: Figure,
    connections: u32,
    value: f64,
}

pub(crate) fn run(args: &Args) -> io::Result<()> {
    raise_open_files();
    let processors = processors(2)?;
    let mut samples = Vec::new();
    let mut csv = format!("{}\n", report::CSV_HEADER);
    for turn in 1..=args.turns {
        for &wait in &args.wait {
            for &connections in &args.connections {
                if io::stderr().is_terminal() {
                    eprintln!("turn {turn} of {}: {connections} connections", args.turns);
                }
                let Args { trips, streams, ref size, .. } = *args;
                let processors = [processors[0], processors[1]];
                let pair = Pair { processors, wait, connections, trips, streams };
                for sample in pair.run(size)? {
                    csv.push_str(&report::line(&sample, turn));
                    samples.push(sample);
                }
            }
        }
    }
    report::print(&samples);
    if let Some(path) = &args.csv {
        std::fs::write(path, csv)?;
    }
    Ok(())
}
