//! Programs whose actions are read in any order, so that nothing but the classes is kept of them.

use crate::workload::{Kind, Record, Workload};

/// A program that lies somewhere, as in a file. Actions have positions in their rank.
pub trait Source {
    /// Returns the number of ranks.
    fn num_ranks(&self) -> u32;

    /// Returns the number of a rank's actions.
    fn len_of(&self, rank: u32) -> u32;

    /// Returns an action of a rank.
    fn record(&self, rank: u32, position: u32) -> Record;

    /// Returns the positions of the actions that wait for the end of an action.
    fn waiters(&self, rank: u32, position: u32) -> impl Iterator<Item = u32>;

    /// Returns the positions of the actions that wait for the start of an action.
    fn start_waiters(&self, rank: u32, position: u32) -> impl Iterator<Item = u32>;

    /// Returns the positions of the actions that wait for nothing.
    fn roots(&self, rank: u32) -> impl Iterator<Item = u32>;
}

impl Source for Workload {
    fn num_ranks(&self) -> u32 {
        self.num_ranks() as u32
    }

    fn len_of(&self, rank: u32) -> u32 {
        self.actions(rank).len() as u32
    }

    #[inline]
    fn record(&self, rank: u32, position: u32) -> Record {
        *self.record(self.actions(rank).start + position)
    }

    #[inline]
    fn waiters(&self, rank: u32, position: u32) -> impl Iterator<Item = u32> {
        let start = self.actions(rank).start;
        self.waiters(start + position).iter().map(move |waiter| waiter - start)
    }

    #[inline]
    fn start_waiters(&self, rank: u32, position: u32) -> impl Iterator<Item = u32> {
        let start = self.actions(rank).start;
        self.start_waiters(start + position).iter().map(move |waiter| waiter - start)
    }

    fn roots(&self, rank: u32) -> impl Iterator<Item = u32> {
        let start = self.actions(rank).start;
        self.roots(rank).iter().map(move |root| root - start)
    }
}

/// Returns a rank's actions, each with its position.
pub(super) fn records<S: Source>(source: &S, rank: u32) -> impl Iterator<Item = (u32, Record)> {
    (0..source.len_of(rank)).map(move |position| (position, source.record(rank, position)))
}

/// Returns true for an action that has a peer.
pub(super) fn is_message(record: &Record) -> bool {
    matches!(record.kind, Kind::Send | Kind::Recv)
}
