//! Bitmaps of the ranks of a node that need help, and of the sleeping ranks that could help them.
//!
//! In mode `node`, a rank that computes lends itself ([`Turn::lend`](super::turn::Turn::lend)):
//! other ranks, its helpers, may then poll its engine. A helper does not look at the mailbox of
//! every lent rank. That would take a time that grows with the number of ranks, and page tables for
//! the memory of all of them. Instead, the rank that causes work for a lent rank marks it in a
//! bitmap, and a waiting rank reads that bitmap only.
//!
//! **Marks.** A sender puts its message and then looks if the receiver is lent. A rank lends itself
//! and then looks for messages. Each side writes one word and then reads the word that the other
//! side writes, with a full fence in between (Dekker). So at least one of the two marks the rank.
//! Removing a mark follows this order too: a rank removes the mark, and then looks if the marked
//! rank still needs help.
//!
//! **Sleep.** A helper enters the set of sleepers, arms its mailbox and then looks for marks. A
//! rank that sets a mark then wakes one rank of the set. Again both sides have a fence: the sleeper
//! sees the mark, or it is in the set with its mailbox armed.
#![allow(unsafe_code)] // only `unsafe impl SharedWords`

use super::shared_words::SharedWords;
use super::sync::{AtomicU64, Ordering, fence};

/// The number of ranks in one [`Marks`].
const RANKS: u32 = 512;

/// A cache line of a bitmap of ranks.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Marks([AtomicU64; (RANKS / u64::BITS) as usize]);

// SAFETY: repr(C), atomics only, aligned to 64.
unsafe impl SharedWords for Marks {}

/// Returns the number of [`Marks`] in a bitmap of `ranks` ranks.
#[inline]
pub const fn lines(ranks: usize) -> usize {
    ranks.div_ceil(RANKS as usize)
}

/// A bitmap of ranks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RankSet<'a>(pub(crate) &'a [Marks]);

impl<'a> RankSet<'a> {
    #[inline]
    fn word(self, rank: u32) -> (&'a AtomicU64, u64) {
        let word = (rank % RANKS / u64::BITS) as usize;
        (&self.0[(rank / RANKS) as usize].0[word], 1 << (rank % u64::BITS))
    }

    #[inline]
    pub(crate) fn contains(self, rank: u32) -> bool {
        let (word, bit) = self.word(rank);
        word.load(Ordering::Relaxed) & bit != 0
    }

    pub(crate) fn insert(self, rank: u32) {
        let (word, bit) = self.word(rank);
        word.fetch_or(bit, Ordering::AcqRel);
    }

    /// Removes a rank. Returns true if it was in the set.
    pub(crate) fn remove(self, rank: u32) -> bool {
        let (word, bit) = self.word(rank);
        word.fetch_and(!bit, Ordering::AcqRel) & bit != 0
    }

    /// Returns the word of the first 64 ranks. Bit `i` stands for rank `i`.
    pub(crate) fn first(self) -> &'a AtomicU64 {
        &self.0[0].0[0]
    }

    /// Returns the ranks in the set, ascending.
    #[inline]
    fn iter(self) -> impl Iterator<Item = u32> + 'a {
        let words = self.0.iter().flat_map(|marks| &marks.0).zip((0..).step_by(64));
        words.flat_map(|(word, first)| {
            let mut left = word.load(Ordering::Acquire);
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros();
                left &= left.wrapping_sub(1);
                (bit < u64::BITS).then(|| first + bit)
            })
        })
    }
}

/// A view of two sets of ranks of a node: the ranks that need help, and the sleeping ranks that
/// could help them.
#[derive(Debug, Clone, Copy)]
pub struct Helpers<'a> {
    needing: RankSet<'a>,
    sleeping: RankSet<'a>,
}

impl<'a> Helpers<'a> {
    /// Creates a view over two bitmaps of the same length.
    #[inline]
    pub fn new(needing: &'a [Marks], sleeping: &'a [Marks]) -> Self {
        Self { needing: RankSet(needing), sleeping: RankSet(sleeping) }
    }

    /// Marks a rank if it needs help. Must be called after a message to the rank, and after the
    /// rank has lent itself. If the rank had no mark, calls `wake` to wake a sleeping rank. `wake`
    /// returns false for a rank whose mailbox is not armed.
    #[inline]
    pub fn mark(
        &self,
        rank: u32,
        needs_help: impl FnOnce() -> bool,
        wake: impl FnMut(u32) -> bool,
    ) {
        // Separates what the caller has written from what `needs_help` reads, and from the look at
        // the mark itself: see `unmark`.
        fence(Ordering::SeqCst);
        if needs_help() && !self.needing.contains(rank) {
            self.needing.insert(rank);
            self.wake_one(wake);
        }
    }

    /// Wakes one sleeping rank by `wake`, if there is one. The caller has marked a rank before.
    #[cold]
    pub fn wake_one(&self, mut wake: impl FnMut(u32) -> bool) {
        fence(Ordering::SeqCst);
        // A sleeper leaves the set itself. A rank that has not armed its mailbox yet must stay in
        // the set. If another helper removes the mark first, this rank goes to sleep without having
        // seen the mark.
        let _ = self.sleeping.iter().any(&mut wake);
    }

    /// Removes the mark of a rank, unless it needs help. Returns true if the rank has a mark and
    /// needs help.
    pub fn unmark(&self, rank: u32, needs_help: impl Fn() -> bool) -> bool {
        if !self.needing.contains(rank) {
            return false;
        }
        if needs_help() {
            return true;
        }
        self.needing.remove(rank);
        // Pairs with the fence in `mark`. If another rank found the mark still set, it had caused
        // its work before. So `needs_help` sees this work.
        fence(Ordering::SeqCst);
        let needs_help = needs_help();
        if needs_help {
            self.needing.insert(rank);
        }
        needs_help
    }

    /// Returns the marked ranks, ascending.
    #[inline]
    pub fn marked(&self) -> impl Iterator<Item = u32> + 'a {
        self.needing.iter()
    }

    /// Adds `rank` to the sleeping ranks. The rank then arms its mailbox and calls
    /// [`Helpers::fence`].
    pub fn enter(&self, rank: u32) {
        self.sleeping.insert(rank);
    }

    /// Separates the arming of the mailbox from the last look for marks. A mark that this look
    /// misses comes from a rank that sees the sleeper, and therefore wakes it.
    pub fn fence(&self) {
        fence(Ordering::SeqCst);
    }

    /// Removes `rank` from the sleeping ranks.
    pub fn leave(&self, rank: u32) {
        if self.sleeping.contains(rank) {
            self.sleeping.remove(rank);
        }
    }
}
