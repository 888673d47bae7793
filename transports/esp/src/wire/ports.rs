//! The ports of a host's ranks, in its answer to a discovery.
//!
//! ```text
//!  0               4               6               8
//! +---------------+-------+-------+
//! |  first rank   | port  | ranks |   consecutive ranks, each at the port behind the one before
//! +---------------+-------+-------+
//! ```

use super::bytes::{u16_at, u32_at};
use crate::limits::PORT_RUNS_MAX;

/// Consecutive ranks at consecutive ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortRun {
    /// The first rank.
    pub rank: u32,
    /// The port of the first rank.
    pub port: u16,
    /// Number of ranks; at least one.
    pub count: u16,
}

impl PortRun {
    /// Returns the ranks with their ports.
    pub fn ranks(self) -> impl Iterator<Item = (u32, u16)> {
        (0..self.count).map(move |index| (self.rank + u32::from(index), self.port + index))
    }

    /// Returns true if neither ranks nor ports overflow.
    fn is_consistent(self) -> bool {
        let Some(more) = self.count.checked_sub(1) else { return false };
        self.port.checked_add(more).is_some() && self.rank.checked_add(more.into()).is_some()
    }
}

/// A list of at most [`PORT_RUNS_MAX`] runs, as bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ports<'a>(&'a [u8]);

impl<'a> Ports<'a> {
    /// The length of a run in bytes.
    pub(crate) const RUN_LEN: usize = 8;

    /// The empty list.
    pub const NONE: Ports<'static> = Ports(&[]);

    /// Returns the list in these bytes; `None` if they are malformed.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let ports = Self(bytes);
        let is_list = bytes.len().is_multiple_of(Self::RUN_LEN)
            && bytes.len() / Self::RUN_LEN <= PORT_RUNS_MAX;
        (is_list && ports.iter().all(PortRun::is_consistent)).then_some(ports)
    }

    /// Returns the bytes of any number of runs. [`Ports::lists`] divides these bytes into lists.
    pub fn emit(runs: &[PortRun]) -> Vec<u8> {
        let bytes = |run: &PortRun| {
            let mut bytes = [0; Self::RUN_LEN];
            bytes[..4].copy_from_slice(&run.rank.to_be_bytes());
            bytes[4..6].copy_from_slice(&run.port.to_be_bytes());
            bytes[6..].copy_from_slice(&run.count.to_be_bytes());
            bytes
        };
        runs.iter().flat_map(bytes).collect()
    }

    /// Divides the bytes of runs into as few lists as possible. Returns at least one list, which
    /// may be empty.
    pub fn lists(bytes: &[u8]) -> impl Iterator<Item = Ports<'_>> {
        let none = bytes.is_empty().then_some(Ports::NONE);
        none.into_iter().chain(bytes.chunks(PORT_RUNS_MAX * Self::RUN_LEN).map(Ports))
    }

    /// Returns the runs.
    pub fn iter(self) -> impl Iterator<Item = PortRun> + 'a {
        self.0.chunks_exact(Self::RUN_LEN).map(|run| PortRun {
            rank: u32_at(run, 0..4),
            port: u16_at(run, 4..6),
            count: u16_at(run, 6..8),
        })
    }

    pub(super) fn bytes(self) -> &'a [u8] {
        self.0
    }
}
