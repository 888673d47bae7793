//! Ranks that another process has stopped, and the names of signals.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A rank whose process has been stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Stopped {
    /// The rank.
    pub(crate) rank: u32,
    /// The ID of its process.
    pub(crate) process: u32,
    /// The signal that stopped it.
    pub(crate) signal: i32,
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rank, process, signal } = self;
        let name = signal_name(*signal as usize);
        write!(f, "rank {rank} (process {process}) is stopped: {name}")
    }
}

/// Returns the name of a signal, such as `SIGTERM`.
pub(crate) fn signal_name(signal: usize) -> &'static str {
    signal_hook::low_level::signal_name(signal as i32).unwrap_or("a signal")
}
