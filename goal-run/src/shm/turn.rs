//! Whose turn it is to act for a rank, where whoever waits may.
#![allow(unsafe_code)] // only `unsafe impl SharedWords`

use super::mapping::SharedWords;
use super::sync::{AtomicU32, Line, Ordering};

/// The word that whoever acts for a rank holds, and what the rank says to others.
///
/// It is held for one bounded piece of work at a time. A holder that dies keeps it: the launcher sees the death and ends the job.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Turn {
    /// 1 while somebody acts for the rank.
    held: Line<AtomicU32>,
    /// [`HERE`], [`AWAY`] or [`BUSY`].
    rank: Line<AtomicU32>,
}

/// The rank acts for itself.
const HERE: u32 = 0;
/// It does something else; messages that come for it are others' to take.
const AWAY: u32 = 1;
/// It does something else, and there is something to do for it at once.
const BUSY: u32 = 2;

// SAFETY: repr(C), atomics only, aligned to 64.
unsafe impl SharedWords for Turn {}

impl Turn {
    /// Takes the turn; false if somebody else has it.
    #[inline]
    pub fn take(&self) -> bool {
        let held = &self.held.0;
        held.load(Ordering::Relaxed) == 0
            && held.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Gives the turn back.
    #[inline]
    pub fn give(&self) {
        self.held.0.store(0, Ordering::Release);
    }

    /// The rank acts for itself from now on.
    #[inline]
    pub fn come(&self) {
        // Not a mere store: what somebody else leaves comes before it or finds that the rank is back.
        self.rank.0.swap(HERE, Ordering::AcqRel);
    }

    /// The rank, whose turn it is, does something else from now on; `busy` if something is left to do at once.
    #[inline]
    pub fn go(&self, busy: bool) {
        self.rank.0.store(if busy { BUSY } else { AWAY }, Ordering::Release);
    }

    /// Somebody else who has the turn has left this to do, unless the rank is back.
    #[inline]
    pub fn leave(&self, busy: bool) {
        let (from, to) = if busy { (AWAY, BUSY) } else { (BUSY, AWAY) };
        let _ = self.rank.0.compare_exchange(from, to, Ordering::Release, Ordering::Relaxed);
    }

    /// Whether others may act for the rank, and if so, whether there is something to do at once.
    #[inline]
    pub fn is_away(&self) -> Option<bool> {
        match self.rank.0.load(Ordering::Acquire) {
            HERE => None,
            rank => Some(rank == BUSY),
        }
    }
}
