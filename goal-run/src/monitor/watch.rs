//! Whether a job is stuck, told from the ranks' status words alone.
//!
//! Two readings that follow each other are compared. A rank that rests in both with the same epoch
//! did not run in between, so at one moment, after the first reading of all ranks and before the
//! second, all of them rested: with all mailboxes empty nothing will ever happen. A rank does not
//! rest whose `calc` still takes time, or that waits for room in a mailbox or ring, whose receiver
//! takes whatever comes.

use goal_shm::{Segment, State};
use std::sync::atomic::Ordering;

/// What a rank's status said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    state: State,
    epoch: u64,
    /// Messages for ranks on other hosts, and from them.
    sent: u64,
    taken: u64,
}

/// What the reading before said.
pub(crate) struct Watch {
    /// Empty if a rank did not rest.
    before: Vec<Reading>,
    /// Whether ranks act for each other.
    together: bool,
    /// The ranks of this host.
    ranks: Vec<u32>,
}

/// Messages, with the news of room between them, that the ranks of a host sent to those of others,
/// and took from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Exchanged {
    pub(crate) sent: u64,
    pub(crate) taken: u64,
}

impl Watch {
    /// Of the ranks of a host, which act for each other or for themselves only.
    pub(crate) fn new(together: bool, ranks: Vec<u32>) -> Self {
        Self { before: Vec::new(), together, ranks }
    }

    /// Reads all ranks; whether none of them can go on, where they are all of the job.
    pub(crate) fn is_stuck(&mut self, segment: &Segment) -> bool {
        self.rest(segment).is_some()
    }

    /// Reads all ranks. If none of them can go on before a message comes from another host: what
    /// they sent and took until now.
    pub(crate) fn rest(&mut self, segment: &Segment) -> Option<Exchanged> {
        let reading: Option<Vec<Reading>> =
            self.ranks.iter().map(|&rank| read(segment, rank, self.together)).collect();
        let before = std::mem::replace(&mut self.before, reading.unwrap_or_default());
        let add = |sum: Exchanged, reading: &Reading| Exchanged {
            sent: sum.sent + reading.sent,
            taken: sum.taken + reading.taken,
        };
        let rests = !before.is_empty() && before == self.before;
        rests.then(|| before.iter().fold(Exchanged::default(), add))
    }
}

/// Reads a rank's status; `None` if it does not rest. Where ranks act for each other they are
/// `together`. The mailbox and what wakes the rank are read first: where the epoch has not changed
/// since the reading before, the rank was still resting when they were read.
pub(super) fn read(segment: &Segment, rank: u32, together: bool) -> Option<Reading> {
    let mailbox = segment.mailbox(rank);
    let (tail, head) = mailbox.positions();
    // Another rank may have given a rank that was rung something to do, whether or not the system
    // has let it run since.
    let is_rung = together && !mailbox.is_armed();
    let status = segment.status(rank);
    let reading = Reading {
        epoch: status.epoch(),
        state: status.state(),
        sent: status.remote_sent.load(Ordering::SeqCst),
        taken: status.remote_taken.load(Ordering::SeqCst),
    };
    let rests = match reading.state {
        State::Idle | State::Done => tail == head,
        State::Starting | State::Running | State::Failed => false,
    };
    (rests && !is_rung).then_some(reading)
}
