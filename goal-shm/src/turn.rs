//! Whose turn it is to act for a rank, where whoever waits may.
#![allow(unsafe_code)] // only `unsafe impl SharedWords`

use super::mapping::SharedWords;
use super::sync::{AtomicU32, Line, Ordering};

/// The word that whoever acts for a rank holds, and what others are told of the rank.
///
/// It is held for one bounded piece of work at a time. A holder that dies keeps it: the launcher
/// sees the death and ends the job.
///
/// Only the holder changes `BUSY` and `FAILED`, so they always say what the last piece of work
/// left. `AWAY` is the rank's own, which changes it whenever it likes. Each change is of one bit
/// only: none undoes another one.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Turn {
    /// 1 while somebody acts for the rank.
    held: Line<AtomicU32>,
    /// [`AWAY`], [`BUSY`] and [`FAILED`].
    rank: Line<AtomicU32>,
}

/// The rank does something else; messages that come for it are others' to take.
const AWAY: u32 = 1;
/// There is something to do for the rank at once, without a message.
const BUSY: u32 = 2;
/// An action of the rank has failed: nobody can go on with it.
const FAILED: u32 = 4;

// SAFETY: repr(C), atomics only, aligned to 64.
unsafe impl SharedWords for Turn {}

impl Turn {
    /// Takes the turn; false if somebody else has it.
    #[inline]
    pub fn try_lock(&self) -> bool {
        let held = &self.held.0;
        held.load(Ordering::Relaxed) == 0
            && held.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Gives the turn back.
    #[inline]
    pub fn unlock(&self) {
        self.held.0.store(0, Ordering::Release);
    }

    /// The rank acts for itself from now on.
    #[inline]
    pub fn reclaim(&self) {
        self.rank.0.fetch_and(!AWAY, Ordering::AcqRel);
    }

    /// The rank does something else from now on. It need not have the turn.
    #[inline]
    pub fn lend(&self) {
        self.rank.0.fetch_or(AWAY, Ordering::AcqRel);
    }

    /// The caller, who holds the turn, tells whether it leaves something to do at once.
    #[inline]
    pub fn set_busy(&self, busy: bool) {
        // Nobody else changes the bit while the turn is held.
        let was_busy = self.rank.0.load(Ordering::Relaxed) & BUSY != 0;
        if busy && !was_busy {
            self.rank.0.fetch_or(BUSY, Ordering::Release);
        } else if !busy && was_busy {
            self.rank.0.fetch_and(!BUSY, Ordering::Release);
        }
    }

    /// The caller, who holds the turn, has found that an action of the rank failed. This can't be
    /// taken back.
    #[cold]
    pub fn fail(&self) {
        self.rank.0.fetch_or(FAILED, Ordering::AcqRel);
    }

    /// Whether others may act for the rank, and if so, whether there is something to do at once.
    #[inline]
    pub fn busy_if_lent(&self) -> Option<bool> {
        let rank = self.rank.0.load(Ordering::Acquire);
        (rank & (AWAY | FAILED) == AWAY).then_some(rank & BUSY != 0)
    }
}
