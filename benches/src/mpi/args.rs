//! The arguments of the benchmark, and its limits.

use super::manner::Manner;
use super::operation::Operation;
use super::samples::Memory;
use crate::library::Libraries;
use crate::library::goal::{Ours, Table};
use clap::Args as ClapArgs;
use goal_job::Mode;
use goal_run::named;
use std::path::PathBuf;

/// `mpi`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) libraries: Libraries,
    /// Operations
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Operation::ALL)]
    pub(super) operation: Vec<Operation>,
    /// Numbers of ranks
    #[arg(long, value_delimiter = ',', default_values_t = [2, 4],
        value_parser = clap::value_parser!(u32).range(1..=RANKS_MAX))]
    pub(super) ranks: Vec<u32>,
    /// Bytes that each rank gives, to each other rank in an alltoall. Operations that add numbers
    /// are left out where these are not whole, and schedules where they are no multiple of 4
    #[arg(long, value_delimiter = ',', default_values_t = [8, 1 << 10, 64 << 10, 1 << 20, 4 << 20])]
    pub(super) size: Vec<u64>,
    /// Replay the messages of this program too, as a row with the name of the file; its
    /// computations are left out
    #[arg(long, value_name = "PROGRAM")]
    pub(super) replay: Option<PathBuf>,
    /// Kinds of memory
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Memory::ALL)]
    pub(super) memory: Vec<Memory>,
    /// The contestants of this project
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Ours::ALL)]
    pub(super) ours: Vec<Ours>,
    /// Measure libgoal with these variables and arguments of goal-run, too, under this name, as
    /// "sleeps=--wait block"; may be repeated
    #[arg(long, value_name = "NAME=WORDS", conflicts_with = "from")]
    pub(super) variant: Vec<String>,
    #[command(flatten)]
    pub(super) table: Table,
    /// Mode in which the contestants of this project make progress
    #[arg(long, value_parser = named::<Mode>(), default_value = "caller")]
    pub(super) progress: Mode,
    /// Counted runs
    #[arg(long, default_value_t = 7)]
    pub(super) runs: usize,
    /// Counted rounds of a run at most [default: as many as take some milliseconds, 20 to 4000]
    #[arg(long, default_value_t = u32::MAX, hide_default_value = true,
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) rounds: u32,
    /// Perform each operation this number of times in a row, without a barrier between. The time
    /// is from the first rank's beginning to the last one's end. It includes writing the operands.
    /// Only programs in C have this, and only operations of a single call
    #[arg(long, value_name = "TIMES", conflicts_with_all = ["replay", "from"],
        value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) in_a_row: Option<u32>,
    /// Begin late on one rank, each in turn, by this number of microseconds, in rows of their own.
    /// Their time is that of the other ranks behind the late one's beginning
    #[arg(long, value_name = "US", value_delimiter = ',', value_parser = microseconds,
        conflicts_with_all = ["replay", "from", "in_a_row"])]
    pub(super) skew: Vec<u64>,
    /// Change this number of bytes on each rank before each operation, as a computation would
    /// [default: 1 MiB]
    #[arg(long, value_name = "BYTES", num_args = 0..=1, default_missing_value = "1048576",
        require_equals = true, conflicts_with_all = ["replay", "from"],
        value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    pub(super) cold: Option<u64>,
    /// Let another thread of each rank call GOAL_Test or MPI_Test every 100 microseconds
    #[arg(long, conflicts_with_all = ["replay", "from"])]
    pub(super) second_thread: bool,
    /// Add 64-bit floats in reductions, not 32-bit integers; other operations are left out
    #[arg(long, conflicts_with_all = ["replay", "from"])]
    pub(super) float64: bool,
    /// Append every sample there, as lines of memory, ranks, operation, bytes, contestant, run, and
    /// nanoseconds of the first time, of later ones and of their span
    #[arg(long)]
    pub(super) csv: Option<PathBuf>,
    /// Measure nothing: print the tables of raw data
    #[arg(long, value_name = "CSV")]
    pub(super) from: Vec<PathBuf>,
}

impl Args {
    /// Returns the manners in which operations are performed.
    pub(super) fn manners(&self) -> Vec<Manner> {
        let Self { in_a_row, cold, second_thread, float64, .. } = *self;
        let manner = Manner { in_a_row, late_ns: None, cold, second_thread, float64 };
        let late = |&ns: &u64| Manner { late_ns: Some(ns), ..manner };
        if self.skew.is_empty() { vec![manner] } else { self.skew.iter().map(late).collect() }
    }
}

/// Parses a time of microseconds into nanoseconds.
fn microseconds(text: &str) -> Result<u64, String> {
    let us: Option<f64> = text.parse().ok().filter(|us| (0.001..=1e6).contains(us));
    us.map(|us| (us * 1000.0) as u64).ok_or_else(|| "give 0.001 to 1000000".to_owned())
}

/// Parses the size of an operand of integers, in bytes.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let bytes = text.parse().ok().filter(|&bytes: &u64| bytes > 0 && bytes.is_multiple_of(4));
    bytes.ok_or_else(|| "give a multiple of 4".to_owned())
}

/// The most ranks.
pub(crate) const RANKS_MAX: i64 = 200;
/// The largest row of a halo exchange, so that the parts of two ranks fit a cache of 32 MiB.
pub(super) const HALO_BYTES_MAX: u64 = 1 << 20;
/// A run during which the system moves the processors apart does not count, and is repeated. There
/// are at most this many times as many runs as shall count.
pub(super) const RUNS_FACTOR: usize = 3;
