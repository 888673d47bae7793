//! Wake-up descriptors, called bells, for ranks that wait for network packets and for messages in
//! the segment. Such a rank sleeps in a poll of the system, and its peers wake it by its bell (an
//! `eventfd`).
//!
//! Threat: a rank that an attacker controls can write to any place of the segment. So no word of
//! the segment names the descriptor of a bell. Each process has its own list of bells, which it got
//! from the launcher.

use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The bells of a host's ranks, by rank. Ranks of other hosts have none here. In a job of one host
/// no rank has one.
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

    /// The bell of a rank.
    #[inline]
    pub(crate) fn of(&self, rank: u32) -> Bell<'_> {
        Bell(self.0.get(rank as usize).and_then(|bell| Some(bell.as_ref()?.as_fd())))
    }

    /// The descriptors of all bells, ascending by rank.
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

/// A rank's bell, if it has one: an eventfd.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bell<'a>(Option<BorrowedFd<'a>>);

impl<'a> Bell<'a> {
    /// The descriptor, which is readable after a ring until [`Bell::drain`]; `None` if the rank has
    /// no bell.
    pub fn descriptor(self) -> Option<BorrowedFd<'a>> {
        self.0
    }

    /// Rings. Does nothing without a bell.
    pub(crate) fn ring(self) {
        if let Some(descriptor) = self.0 {
            // Fails if the counter is at its maximum; then the descriptor is readable anyway.
            let _ = rustix::io::write(descriptor, &1u64.to_ne_bytes());
        }
    }

    /// Takes all rings back, so that the descriptor is not readable until the next one.
    pub fn drain(self) {
        if let Some(descriptor) = self.0 {
            // Fails if nobody has rung.
            let _ = rustix::io::read(descriptor, &mut [0u8; 8][..]);
        }
    }
}
