//! The ranks of a host as their launcher sees and steers them from outside.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A rank that ended by itself.
#[derive(Debug)]
pub(super) enum Fallen {
    /// It could not start; why.
    NotStarted(u32, String),
    /// It had started; how it ended.
    Ended(u32, String),
}

/// A rank whose process somebody has stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Stopped {
    /// The rank.
    pub rank: u32,
    /// Its process.
    pub process: u32,
    /// The signal that stopped it.
    pub signal: i32,
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rank, process, signal } = self;
        let name = signal_hook::low_level::signal_name(*signal).unwrap_or("a signal");
        write!(f, "rank {rank} (process {process}) is stopped: {name}")
    }
}

/// The ranks of a host.
pub(super) trait Crew {
    /// A rank that ended by itself.
    fn fallen(&mut self) -> Option<Fallen>;

    /// Returns the number of ranks that were started.
    fn started(&self) -> usize;

    /// The ranks that somebody has stopped, ascending.
    fn stopped(&mut self) -> Vec<Stopped>;

    /// Stops all ranks that nobody else has stopped.
    fn suspend(&mut self);

    /// Lets those go on that [`Crew::suspend`] has stopped.
    fn resume(&mut self);
}
