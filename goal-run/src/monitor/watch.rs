//! Whether a job is stuck, told from the ranks' status words alone.
//!
//! Two readings are compared. A rank that rests in both with the same epoch did not run in between. One that waits for room
//! polls now and then without beginning an epoch while its polls are fruitless; two more of those say that at least
//! one began and ended between the readings. So where all ranks rest in both readings, nothing happened
//! between them, and what each found impossible then is impossible now: with all rings empty, but for those whose
//! receivers refuse messages, nothing will ever happen. A rank whose `calc` still takes time does not rest.

use crate::shm::{Segment, State};
use std::sync::atomic::Ordering;

/// What a rank's status said.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Reading {
    state: State,
    epoch: u64,
    retries: u64,
}

/// The previous reading.
#[derive(Default)]
pub(crate) struct Watch {
    before: Vec<Reading>,
    now: Vec<Reading>,
}

impl Watch {
    /// Reads all ranks; whether none of them can go on.
    pub(crate) fn is_stuck(&mut self, segment: &Segment) -> bool {
        std::mem::swap(&mut self.before, &mut self.now);
        self.now.clear();
        for rank in 0..segment.num_ranks() {
            let status = segment.status(rank);
            let retries = status.retries.load(Ordering::SeqCst);
            let reading = Reading { epoch: status.epoch(), state: status.state(), retries };
            if !rests(segment, rank, reading.state) {
                // A later reading has nothing to be compared with.
                self.now.clear();
                return false;
            }
            self.now.push(reading);
        }
        let pairs = self.before.iter().zip(&self.now);
        let unchanged = pairs.filter(|(before, now)| {
            let polled = now.state != State::Blocked || now.retries >= before.retries + 2;
            now.state == before.state && now.epoch == before.epoch && polled
        });
        let stuck = unchanged.count() == self.now.len();
        if !stuck && self.before.len() == self.now.len() && self.same_epochs() {
            // Blocked ranks need longer: the older reading is kept.
            std::mem::swap(&mut self.before, &mut self.now);
        }
        stuck
    }

    fn same_epochs(&self) -> bool {
        self.before.iter().zip(&self.now).all(|(a, b)| a.epoch == b.epoch && a.state == b.state)
    }
}

fn rests(segment: &Segment, rank: u32, state: State) -> bool {
    let (tail, head) = segment.inbox(rank).positions();
    match state {
        State::Idle | State::Done => tail == head,
        State::Blocked => true,
        State::Starting | State::Running | State::Failed => false,
    }
}
