//! Wake-up descriptors, called bells, for ranks that wait for network packets and for messages in
//! the segment. Such a rank sleeps in a poll of the system, and its peers wake it by its bell (an
//! `eventfd`).
//!
//! Threat: a rank that an attacker controls can write to any place of the segment. So no word of
//! the segment names the descriptor of a bell. Each process has its own list of bells, which it got
//! from the launcher.

use goal_sync::Bell;
use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The bells of a host's ranks, by rank. A rank of another host has no bell here. In a job on one
/// host no rank has a bell.
#[derive(Debug, Default)]
pub(crate) struct Bells(Vec<Option<OwnedFd>>);

impl Bells {
    /// Creates bells, which programs that this process starts inherit.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn new(ranks: impl Iterator<Item = u32>) -> io::Result<Self> {
        let bell = |rank| io::Result::Ok((rank, eventfd(0, EventfdFlags::NONBLOCK)?));
        Ok(ranks.map(bell).collect::<io::Result<Vec<_>>>()?.into_iter().collect())
    }

    /// Returns the bell of a rank. If the rank has none, the result has no descriptor.
    #[inline]
    pub(crate) fn of(&self, rank: u32) -> Bell<'_> {
        Bell::new(self.0.get(rank as usize).and_then(|bell| Some(bell.as_ref()?.as_fd())))
    }

    /// Returns the descriptors of all bells, ascending by rank.
    pub(crate) fn all(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.0.iter().flatten().map(AsFd::as_fd)
    }
}

impl FromIterator<(u32, OwnedFd)> for Bells {
    fn from_iter<T: IntoIterator<Item = (u32, OwnedFd)>>(bells: T) -> Self {
        let mut all = Vec::new();
        for (rank, bell) in bells {
            all.resize_with(all.len().max(rank as usize + 1), || None);
            all[rank as usize] = Some(bell);
        }
        Self(all)
    }
}
