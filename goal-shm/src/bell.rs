//! Bells for ranks that sleep in a poll of the system, because they wait for something else than
//! messages in the segment too.
//!
//! Threat: a rank that somebody has taken over writes to any place of the segment. So nothing there
//! says which descriptor a bell is: each process has its own list of them, which it got from the
//! launcher.

use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The bells of a host's ranks, by rank. Those of other ranks are missing, and all of them where
/// there is no other host.
#[derive(Debug, Default)]
pub(super) struct Bells(Vec<Option<OwnedFd>>);

impl Bells {
    /// New ones, for programs that this process starts too.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn new(ranks: impl Iterator<Item = u32>) -> io::Result<Self> {
        let bell = |rank| io::Result::Ok((rank, eventfd(0, EventfdFlags::NONBLOCK)?));
        Ok(ranks.map(bell).collect::<io::Result<Vec<_>>>()?.into_iter().collect())
    }

    /// That of a rank.
    #[inline]
    pub(super) fn of(&self, rank: u32) -> Bell<'_> {
        Bell(self.0.get(rank as usize).and_then(|bell| Some(bell.as_ref()?.as_fd())))
    }

    /// All there are, ascending by rank.
    pub(super) fn all(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
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

/// A rank's bell, if it has one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bell<'a>(Option<BorrowedFd<'a>>);

impl<'a> Bell<'a> {
    /// What is readable when somebody has rung; `None` where there is no bell.
    pub fn descriptor(self) -> Option<BorrowedFd<'a>> {
        self.0
    }

    /// Rings, if there is one.
    pub(super) fn ring(self) {
        if let Some(descriptor) = self.0 {
            // Fails where it has been rung as often as it can be.
            let _ = rustix::io::write(descriptor, &1u64.to_ne_bytes());
        }
    }

    /// Makes it silent again.
    pub fn drain(self) {
        if let Some(descriptor) = self.0 {
            // Fails where it is silent.
            let _ = rustix::io::read(descriptor, &mut [0u8; 8][..]);
        }
    }
}
