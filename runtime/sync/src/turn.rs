//! The lock under which a process acts for a rank: it polls the rank's engine, takes its messages
//! and starts its actions.
//!
//! In mode `node`, a rank that computes lends itself to the ranks that wait. A waiting rank that
//! has locked the [`Turn`] of a lent rank acts for it.
#![allow(unsafe_code)] // only `unsafe impl SharedWords`

use super::shared_words::SharedWords;
use super::sync::{AtomicU32, Line, Ordering};

/// The lock under which a process acts for a rank, and three bits about the rank. Others read the
/// bits without the lock.
///
/// The lock is held for one bounded piece of work at a time. A holder that dies keeps the lock; the
/// launcher sees the death and ends the job.
///
/// Only the holder changes `BUSY` and `FAILED`, so these always describe the state that the last
/// piece of work left. `LENT` belongs to the rank, which changes it at any time, with or without
/// the lock. Each change is an atomic operation on a single bit, so none undoes another.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Turn {
    /// 1 while the lock is held.
    held: Line<AtomicU32>,
    /// [`LENT`], [`BUSY`] and [`FAILED`].
    rank: Line<AtomicU32>,
}

/// The rank does something other than communicate, and other ranks may act for it.
const LENT: u32 = 1;
/// The rank has something to do at once, even without a message.
const BUSY: u32 = 2;
/// An action of the rank has failed, and its engine must not be polled any more.
const FAILED: u32 = 4;

// SAFETY: repr(C), atomics only, aligned to 64.
unsafe impl SharedWords for Turn {}

impl Turn {
    /// Tries to lock the rank. Returns `None` if somebody else holds the lock.
    #[inline]
    pub fn try_lock(&self) -> Option<HeldTurn<'_>> {
        let held = &self.held.0;
        // Acquire: pairs with the Release store in `unlock`. The new holder sees everything that
        // the previous holder did to the engine.
        let is_free = held.load(Ordering::Relaxed) == 0
            && held.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok();
        is_free.then_some(HeldTurn(self))
    }

    /// Takes the rank back from its helpers. A helper may still hold the lock.
    #[inline]
    pub fn reclaim(&self) {
        self.rank.0.fetch_and(!LENT, Ordering::AcqRel);
    }

    /// Lends the rank to helpers. The caller acts for the rank, but needs no lock.
    #[inline]
    pub fn lend(&self) {
        self.rank.0.fetch_or(LENT, Ordering::AcqRel);
    }

    /// Returns true if others may act for the rank.
    #[inline]
    pub fn is_lent(&self) -> bool {
        self.rank.0.load(Ordering::Relaxed) & (LENT | FAILED) == LENT
    }

    /// Returns `None` if others must not act for the rank. Otherwise returns true if the rank has
    /// something to do at once.
    #[inline]
    pub fn busy_if_lent(&self) -> Option<bool> {
        // Acquire: pairs with the changes of the word in `set_busy`, `fail` and `lend`.
        let rank = self.rank.0.load(Ordering::Acquire);
        (rank & (LENT | FAILED) == LENT).then_some(rank & BUSY != 0)
    }
}

/// The held lock of a [`Turn`].
///
/// Dropping this value does not unlock the rank. If the holder panics in the middle of its work,
/// nobody may go on with the state that it left.
#[derive(Debug)]
#[must_use = "the rank stays locked until `unlock` is called"]
pub struct HeldTurn<'a>(&'a Turn);

impl HeldTurn<'_> {
    /// Releases the lock.
    #[inline]
    pub fn unlock(self) {
        // Release: pairs with the compare-exchange in `try_lock`.
        self.0.held.0.store(0, Ordering::Release);
    }

    /// Sets or clears the bit that says that the rank has something to do at once.
    #[inline]
    pub fn set_busy(&self, busy: bool) {
        let rank = &self.0.rank.0;
        // Relaxed: only the holder of the lock changes this bit.
        let was_busy = rank.load(Ordering::Relaxed) & BUSY != 0;
        if busy && !was_busy {
            rank.fetch_or(BUSY, Ordering::Release);
        } else if !busy && was_busy {
            rank.fetch_and(!BUSY, Ordering::Release);
        }
    }

    /// Sets the bit that says that an action of the rank has failed. Nothing clears it.
    #[cold]
    pub fn fail(&self) {
        self.0.rank.0.fetch_or(FAILED, Ordering::AcqRel);
    }
}
