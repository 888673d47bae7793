//! Whether a job is stuck, told from the ranks' status words alone.
//!
//! Readings that follow each other are compared. A rank that rests in two of them with the same epoch did not run in between,
//! so at one moment, after the first reading of all ranks and before the second, all of them rested. One that waits for
//! room polls now and then without beginning an epoch while its polls are fruitless; two more of those since the second
//! reading say that at least one began after that moment and ended. So what each rank found impossible then is
//! impossible now: with all rings empty, but for those whose receivers refuse messages, nothing will ever happen. A rank
//! whose `calc` still takes time does not rest.

use crate::shm::{Segment, State};
use std::sync::atomic::Ordering;

/// What a rank's status said.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Reading {
    state: State,
    epoch: u64,
    retries: u64,
}

/// What earlier readings said.
#[derive(Default)]
pub(crate) struct Watch {
    /// The one to compare with; empty if a rank did not rest in it.
    before: Vec<Reading>,
    /// Whether it was like the one before it.
    confirmed: bool,
}

impl Watch {
    /// Reads all ranks; whether none of them can go on.
    pub(crate) fn is_stuck(&mut self, segment: &Segment) -> bool {
        let reading: Option<Vec<Reading>> =
            (0..segment.num_ranks()).map(|rank| read(segment, rank)).collect();
        let now = reading.unwrap_or_default();
        let rested = now.len() == self.before.len() && !now.is_empty();
        let mut pairs = self.before.iter().zip(&now);
        if !rested || !pairs.all(|(before, now)| before.epoch == now.epoch && before.state == now.state) {
            *self = Self { before: now, confirmed: false };
            return false;
        }
        if !self.confirmed {
            *self = Self { before: now, confirmed: true };
            return self.before.iter().all(|reading| reading.state != State::Blocked);
        }
        let mut pairs = self.before.iter().zip(&now);
        pairs.all(|(before, now)| now.state != State::Blocked || now.retries >= before.retries + 2)
    }
}

/// What a rank's status says; `None` if it does not rest. The ring is read first: where the epoch has not changed since the
/// reading before, the rank was still resting when its ring was read.
fn read(segment: &Segment, rank: u32) -> Option<Reading> {
    let (tail, head) = segment.inbox(rank).positions();
    let status = segment.status(rank);
    let retries = status.retries.load(Ordering::SeqCst);
    let reading = Reading { epoch: status.epoch(), state: status.state(), retries };
    let rests = match reading.state {
        State::Idle | State::Done => tail == head,
        State::Blocked => true,
        State::Starting | State::Running | State::Failed => false,
    };
    rests.then_some(reading)
}
