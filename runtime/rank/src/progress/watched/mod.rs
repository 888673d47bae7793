//! Lets a rank wait for cells of boards besides its messages.
//!
//! A program's library writes and reads [boards](goal_shm::Board) itself. Before it lets its rank
//! rest, it names the cells that the rank waits for. A rank that sleeps until one of them gets its
//! word naps: see [`goal_shm::Napping`].

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

    /// Waits until a reader has consumed all below `position`. Readers wake nobody, so a rank that
    /// waits for room sleeps for short times only.
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
        let needs_room = self.watched.iter().any(Watched::is_room);
        match waiting {
            Waiting::Until { time_ns, room } => {
                Waiting::Until { time_ns, room: room || needs_room }
            }
            _ if needs_room => Waiting::Room,
            Waiting::Nothing if !self.watched.is_empty() => Waiting::Messages,
            _ => waiting,
        }
    }

    /// Lets writers of the cells wake the rank, whose mailbox is armed. Returns false, and disarms
    /// the mailbox, if one of the words has come. Otherwise the rank sleeps and then calls
    /// [`Nap::end`].
    pub(super) fn begin(&self) -> bool {
        if self.watched.is_empty() {
            return true;
        }
        if !self.segment.napping().enter(self.rank) {
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
            self.segment.napping().leave(self.rank);
        }
    }

    fn mailbox(&self) -> Mailbox<'_> {
        self.segment.mailbox(self.rank)
    }
}
