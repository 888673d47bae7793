//! Programs whose actions are read in any order, so that little or nothing is kept of them.

use crate::workload::{Record, Workload};

/// A program that lies somewhere, as in a file.
pub trait Source: Sync {
    /// A rank of the program.
    type Rank<'s>: Actions
    where
        Self: 's;

    /// Returns the number of ranks.
    fn num_ranks(&self) -> u32;

    /// Returns a rank.
    fn rank(&self, rank: u32) -> Self::Rank<'_>;
}

/// The actions of a rank. An action is named by its position.
pub trait Actions: Copy {
    /// Returns the number of actions.
    fn count(self) -> u32;

    /// Returns an action.
    fn record(self, position: u32) -> Record;

    /// Returns the number of dependencies that an action waits for.
    #[inline]
    fn missing(self, position: u32) -> u32 {
        self.record(position).missing
    }

    /// Returns the actions that wait for the end of an action.
    fn waiters(self, position: u32) -> impl Iterator<Item = u32>;

    /// Returns the actions that wait for the start of an action.
    fn start_waiters(self, position: u32) -> impl Iterator<Item = u32>;

    /// Returns the actions that wait for nothing.
    fn roots(self) -> impl Iterator<Item = u32>;

    /// Returns all actions, each with its position.
    fn records(self) -> impl Iterator<Item = (u32, Record)> {
        (0..self.count()).map(move |position| (position, self.record(position)))
    }
}

/// A rank of a [`Workload`].
#[derive(Debug, Clone, Copy)]
pub struct WorkloadRank<'w> {
    workload: &'w Workload,
    rank: u32,
    /// The number of the first action.
    first: u32,
}

impl Source for Workload {
    type Rank<'s> = WorkloadRank<'s>;

    fn num_ranks(&self) -> u32 {
        self.num_ranks() as u32
    }

    #[inline]
    fn rank(&self, rank: u32) -> WorkloadRank<'_> {
        WorkloadRank { workload: self, rank, first: self.actions(rank).start }
    }
}

impl Actions for WorkloadRank<'_> {
    fn count(self) -> u32 {
        self.workload.actions(self.rank).len() as u32
    }

    #[inline]
    fn record(self, position: u32) -> Record {
        *self.workload.record(self.first + position)
    }

    #[inline]
    fn waiters(self, position: u32) -> impl Iterator<Item = u32> {
        let waiters = self.workload.waiters(self.first + position);
        waiters.iter().map(move |waiter| waiter - self.first)
    }

    #[inline]
    fn start_waiters(self, position: u32) -> impl Iterator<Item = u32> {
        let waiters = self.workload.start_waiters(self.first + position);
        waiters.iter().map(move |waiter| waiter - self.first)
    }

    fn roots(self) -> impl Iterator<Item = u32> {
        self.workload.roots(self.rank).iter().map(move |root| root - self.first)
    }
}
