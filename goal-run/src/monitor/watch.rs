//! Whether a job is stuck, told from the ranks' status words alone.
//!
//! Two readings that follow each other are compared. A rank that rests in both with the same epoch did not run in between, so
//! at one moment, after the first reading of all ranks and before the second, all of them rested: with all mailboxes empty
//! nothing will ever happen. A rank does not rest whose `calc` still takes time, or that waits for room in a mailbox or ring, whose
//! receiver takes whatever comes.

use crate::shm::{Segment, State};

/// What a rank's status said.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Reading {
    state: State,
    epoch: u64,
}

/// What the reading before said.
pub(crate) struct Watch {
    /// Empty if a rank did not rest.
    before: Vec<Reading>,
    /// Whether ranks act for each other.
    together: bool,
}

impl Watch {
    /// Of a job whose ranks act for each other, or for themselves only.
    pub(crate) fn new(together: bool) -> Self {
        Self { before: Vec::new(), together }
    }

    /// Reads all ranks; whether none of them can go on.
    pub(crate) fn is_stuck(&mut self, segment: &Segment) -> bool {
        // Who was rung may have been given something to do by another rank, whether or not the system has let it run since.
        let is_rung = |rank| self.together && !segment.mailbox(rank).is_armed();
        let reading: Option<Vec<Reading>> =
            (0..segment.num_ranks()).map(|rank| read(segment, rank).filter(|_| !is_rung(rank))).collect();
        let before = std::mem::replace(&mut self.before, reading.unwrap_or_default());
        !before.is_empty() && before == self.before
    }
}

/// What a rank's status says; `None` if it does not rest. The mailbox is read first: where the epoch has not changed since the
/// reading before, the rank was still resting when its mailbox was read.
fn read(segment: &Segment, rank: u32) -> Option<Reading> {
    let (tail, head) = segment.mailbox(rank).positions();
    let status = segment.status(rank);
    let reading = Reading { epoch: status.epoch(), state: status.state() };
    let rests = match reading.state {
        State::Idle | State::Done => tail == head,
        State::Starting | State::Running | State::Failed => false,
    };
    rests.then_some(reading)
}
