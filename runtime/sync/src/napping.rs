//! The set of ranks that nap: they sleep until a cell of a [board](super::board) gets its word.
//!
//! A writer stores the word of a cell and then looks if a reader naps. A reader arms its mailbox,
//! enters the set, looks at its cells once more, and then sleeps. Each side writes one word and
//! then reads the word that the other side writes, with a fence in between (Dekker). So the writer
//! sees the reader and wakes it, or the reader sees the word and does not sleep.
//!
//! **Fences.** Writers write far more often than readers fall asleep. So the pair of fences is
//! asymmetric, as in RCU (C++ proposal P1202): the reader asks the system to run a fence on all
//! processors (`membarrier`). The writer then needs an order of the compiler only. If ranks share
//! processors, readers sleep often, and both sides use the processor's fence.
//!
//! Threat: a filter of system calls may forbid `membarrier` to some processes of a job. The writers
//! of such a process use the processor's fence. A reader that can't call it waits for
//! [`UNSEEN_MAX`] and looks at its cells again. No rank has to know what another one may call.

use super::helpers::{Marks, RankSet};
use super::sync::{AtomicU64, Ordering, fence, light_fence, membarrier, register_for_membarrier};
use std::time::Duration;

/// The longest time until a reader sees a stored word without a fence. A processor keeps a store to
/// itself for less than a microsecond.
pub const UNSEEN_MAX: Duration = Duration::from_millis(1);

/// The fences of the writers and the readers of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fences {
    /// Both sides use the processor's fence. So do all processes of the host.
    Full,
    /// Readers use `membarrier`. The process is registered for it, so its writers need no fence.
    Asymmetric,
    /// Writers use the processor's fence. Readers can't rely on any fence.
    #[default]
    Unordered,
    /// No side uses a fence.
    #[cfg(all(test, loom))]
    None,
}

impl Fences {
    /// Chooses the fences of this process, and registers it for the fences of others. `is_crowded`
    /// is true if ranks of the host share processors. All processes of the host pass the same
    /// value.
    pub fn choose(is_crowded: bool) -> Self {
        match is_crowded {
            true => Self::Full,
            false if register_for_membarrier() => Self::Asymmetric,
            false => Self::Unordered,
        }
    }

    /// Orders the words that the caller has stored before its look at the set.
    #[inline(always)]
    fn order_writer(self) {
        match self {
            Self::Asymmetric => light_fence(),
            Self::Full | Self::Unordered => fence(Ordering::SeqCst),
            #[cfg(all(test, loom))]
            Self::None => {}
        }
    }

    /// Orders the caller's entry into the set before its look at cells, for all writers of the
    /// host. Returns false if it can't.
    fn order_reader(self) -> bool {
        match self {
            Self::Full => fence(Ordering::SeqCst),
            Self::Asymmetric => return membarrier(),
            Self::Unordered => return false,
            #[cfg(all(test, loom))]
            Self::None => {}
        }
        true
    }
}

/// A view of the set of ranks of a host that nap.
#[derive(Debug, Clone, Copy)]
pub struct Napping<'a> {
    ranks: RankSet<'a>,
    /// The word of the first 64 ranks. Only these ranks have boards.
    first: &'a AtomicU64,
    fences: Fences,
}

impl<'a> Napping<'a> {
    /// Creates a view over a bitmap, with the fences of this process.
    #[inline]
    pub fn new(ranks: &'a [Marks], fences: Fences) -> Self {
        let ranks = RankSet(ranks);
        Self { ranks, first: ranks.first(), fences }
    }

    /// Returns those of these readers that nap. A writer calls this after it has stored the words
    /// of its cells. Bit `i` of `readers` stands for rank `i`.
    #[inline(always)]
    pub fn sleepers(&self, readers: u64) -> u64 {
        self.fences.order_writer();
        self.first.load(Ordering::Relaxed) & readers
    }

    /// Wakes the ranks that [`sleepers`](Self::sleepers) has returned, by a call of `wake` for
    /// each.
    pub fn wake(mut sleepers: u64, mut wake: impl FnMut(u32)) {
        if sleepers == 0 {
            return;
        }
        // A rank enters the set after it has armed its mailbox.
        fence(Ordering::SeqCst);
        while sleepers != 0 {
            wake(sleepers.trailing_zeros());
            sleepers &= sleepers - 1;
        }
    }

    /// Adds a rank, whose mailbox is armed. From then on a writer wakes the rank, or the rank sees
    /// the writer's word. If this returns false, that holds only once [`UNSEEN_MAX`] has passed.
    #[must_use]
    pub fn enter(&self, rank: u32) -> bool {
        self.ranks.insert(rank);
        self.fences.order_reader()
    }

    /// Removes a rank, if it is in the set.
    #[inline]
    pub fn leave(&self, rank: u32) {
        if self.ranks.contains(rank) {
            self.ranks.remove(rank);
        }
    }
}
