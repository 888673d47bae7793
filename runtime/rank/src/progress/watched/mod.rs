//! Lets a rank wait for cells of boards besides its messages.
//!
//! A program's library writes and reads [boards](goal_shm::Board) itself. Before it lets its rank
//! rest, it names the cells that the rank waits for. A rank that sleeps until one of them gets its
//! word naps: see [`goal_shm::Napping`]. So does a rank that waits until peers have read what lies
//! on its own board. Readers write far more rarely than writers, and look at a set of their own.

#[cfg(test)]
mod tests;

use goal_engine::Waiting;
use goal_shm::{Mailbox, Segment, UNSEEN_MAX, board};
use std::sync::atomic::{AtomicU64, Ordering};

/// A word that a rank waits for.
#[derive(Debug, Clone, Copy)]
pub struct Watched<'a> {
    word: &'a AtomicU64,
    wanted: Wanted,
}

impl PartialEq for Watched<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.word, other.word) && self.wanted == other.wanted
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// The word of a cell.
    Message(u64),
    /// A position that a reader has consumed.
    Room(u64),
}

impl<'a> Watched<'a> {
    /// Waits for the message with the word `wanted` in a cell. Another message at the position of
    /// this one ends the wait too, because the ranks then do not agree.
    pub fn message(cell: &'a AtomicU64, wanted: u64) -> Self {
        Self { word: cell, wanted: Wanted::Message(wanted) }
    }

    /// Waits until a reader has consumed all below `position`. A reader that has written its word
    /// wakes the ranks in [`Segment::awaiting_room`].
    pub fn room(consumed: &'a AtomicU64, position: u64) -> Self {
        Self { word: consumed, wanted: Wanted::Room(position) }
    }

    /// Returns true if what the rank waits for has come.
    #[inline]
    pub fn has_come(&self) -> bool {
        let found = self.word.load(Ordering::Acquire);
        match self.wanted {
            Wanted::Message(wanted) => board::is_at(found, wanted),
            Wanted::Room(position) => found.wrapping_sub(position) as i64 >= 0,
        }
    }

    fn is_room(&self) -> bool {
        matches!(self.wanted, Wanted::Room(_))
    }
}

/// The words that a rank waits for in a call.
pub(super) struct Nap<'n, 'a> {
    pub(super) segment: &'a Segment,
    pub(super) rank: u32,
    pub(super) watched: &'n [Watched<'a>],
}

impl Nap<'_, '_> {
    /// Returns true if one of the words has come.
    #[inline]
    pub(super) fn has_come(&self) -> bool {
        self.watched.iter().any(Watched::has_come)
    }

    /// Returns what the rank waits for, if its engine waits for `waiting`.
    #[inline]
    pub(super) fn waiting(&self, waiting: Waiting) -> Waiting {
        match waiting {
            Waiting::Nothing if !self.watched.is_empty() => Waiting::Messages,
            _ => waiting,
        }
    }

    /// Lets writers of the words wake the rank, whose mailbox is armed. Returns false, and disarms
    /// the mailbox, if one of the words has come. Otherwise the rank sleeps and then calls
    /// [`Nap::end`].
    pub(super) fn begin(&self) -> bool {
        if self.watched.is_empty() {
            return true;
        }
        if !enter(self.segment, self.rank, self.watched) {
            self.mailbox().sleep_without_disarming(Some(UNSEEN_MAX));
        }
        let has_come = self.has_come();
        if has_come {
            self.end();
            self.mailbox().disarm();
        }
        !has_come
    }

    /// Ends a nap.
    pub(super) fn end(&self) {
        if !self.watched.is_empty() {
            leave(self.segment, self.rank);
        }
    }

    fn mailbox(&self) -> Mailbox<'_> {
        self.segment.mailbox(self.rank)
    }
}

/// Lets writers of these words wake a rank whose bell is armed. If this returns false, that holds
/// only once [`UNSEEN_MAX`] has passed.
pub(super) fn enter(segment: &Segment, rank: u32, watched: &[Watched<'_>]) -> bool {
    let needs_room = watched.iter().any(Watched::is_room);
    let is_ordered = !needs_room || segment.awaiting_room().enter(rank);
    segment.napping().enter(rank) && is_ordered
}

/// Ends what [`enter`] has begun.
pub(super) fn leave(segment: &Segment, rank: u32) {
    segment.napping().leave(rank);
    segment.awaiting_room().leave(rank);
}
