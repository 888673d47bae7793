//! Decides whether a job is stuck, from the status words of its ranks alone.
//!
//! A rank rests if it waits for a message, its mailbox is empty, and nobody has woken it. A rank
//! that writes a cell of a board then wakes the readers that sleep, before it can rest itself. A
//! rank does not rest while its `calc` takes time. It also does not rest while it waits for room in
//! a mailbox or ring, as the owner will make room. Two readings of all ranks, one after the other,
//! are compared. A rank that rests in both readings with an equal epoch did not run in between. So
//! at the moment between the readings all ranks rested with empty mailboxes, and no message will
//! ever be sent.
//!
//! For a rank of a program, this holds only if no thread of its process is outside of a call. So
//! each rank has to state, for its current epoch, that there is no such thread.

use goal_job::threads::is_stopped;
use goal_shm::{Segment, State};
use std::sync::atomic::Ordering;

/// One reading of a rank's status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    state: State,
    epoch: u64,
    /// The number of messages that the rank sent to ranks on other hosts.
    sent: u64,
    /// The number of messages that the rank took from ranks on other hosts.
    taken: u64,
}

/// Compares successive readings of the ranks of a host.
pub(crate) struct Watch {
    /// The last reading of each rank. Empty if a rank did not rest at the last reading.
    before: Vec<Reading>,
    /// True if ranks act for each other (mode `node`).
    together: bool,
    /// True if ranks are processes of programs. Such a rank may go on if it does not wait in a
    /// call, or if a thread of it is outside of calls.
    of_programs: bool,
    /// True if all ranks rested at the last reading, but some may have threads outside of calls.
    is_unsure: bool,
    /// True if ranks have runs in the kernel. A rank that is stopped has not noticed when a run
    /// ends.
    in_kernel: bool,
    /// The ranks of this host.
    ranks: Vec<u32>,
}

/// The number of messages, announcements of room included, that the ranks of a host sent to other
/// hosts and took from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Exchanged {
    pub(crate) sent: u64,
    pub(crate) taken: u64,
}

impl Watch {
    /// Returns a watch over the ranks of a host. `together` is true if ranks act for each other.
    pub(crate) fn new(together: bool, ranks: Vec<u32>) -> Self {
        Self {
            before: Vec::new(),
            together,
            of_programs: false,
            is_unsure: false,
            in_kernel: false,
            ranks,
        }
    }

    /// Returns the ranks that this watch reads.
    pub(crate) fn ranks(&self) -> &[u32] {
        &self.ranks
    }

    /// Sets that ranks are processes of programs.
    pub(crate) fn of_programs(self) -> Self {
        Self { of_programs: true, ..self }
    }

    /// Returns true if the ranks have to be asked about their threads. They all rested at the last
    /// reading, but some have not stated that no other thread may act.
    pub(crate) fn is_unsure(&self) -> bool {
        self.is_unsure
    }

    /// Sets whether programs may have runs in the kernel. If so, a stopped rank may go on later,
    /// since no message shows that its run has ended.
    pub(crate) fn in_kernel(self, in_kernel: bool) -> Self {
        Self { in_kernel, ..self }
    }

    /// Reads the status of all ranks. Returns true if no rank can go on. Only for a job on one
    /// host.
    pub(crate) fn is_stuck(&mut self, segment: &Segment) -> bool {
        self.rest(segment).is_some()
    }

    /// Reads the status of all ranks. If no rank can go on without a message from another host,
    /// returns the numbers of messages that they exchanged with other hosts until now. Otherwise
    /// returns `None`.
    pub(crate) fn rest(&mut self, segment: &Segment) -> Option<Exchanged> {
        let waits = |rank| !self.of_programs || segment.status(rank).process_state.waits();
        let read = |&rank: &u32| {
            let waits = waits(rank);
            read(segment, rank, self.together).filter(|_| waits)
        };
        self.ranks.retain(|&rank| !segment.status(rank).is_lost());
        let reading: Option<Vec<Reading>> = self.ranks.iter().map(read).collect();
        let before = std::mem::replace(&mut self.before, reading.unwrap_or_default());
        let add = |sum: Exchanged, reading: &Reading| Exchanged {
            sent: sum.sent + reading.sent,
            taken: sum.taken + reading.taken,
        };
        let rests = !before.is_empty() && before == self.before;
        let may_act = rests && self.may_act(segment);
        self.is_unsure = may_act;
        (rests && !may_act).then(|| before.iter().fold(Exchanged::default(), add))
    }
}

impl Watch {
    /// Returns true if a rank of a program may still send a message. Its process may have a thread
    /// outside of calls, unless the rank states for its current epoch that there is none. A stopped
    /// rank with runs in the kernel may also go on.
    fn may_act(&self, segment: &Segment) -> bool {
        self.of_programs
            && self.ranks.iter().zip(&self.before).any(|(&rank, reading)| {
                let process_state = &segment.status(rank).process_state;
                let is_stopped = || process_state.seen().is_some_and(is_stopped);
                // After `GOAL_Finalize` a rank starts nothing.
                let is_sure = process_state.has_finalized()
                    || process_state.others_in(reading.epoch) == Some(0);
                !is_sure || self.in_kernel && is_stopped()
            })
    }
}

/// Reads the status of a rank. Returns `None` if the rank does not rest. `together` is true if
/// ranks act for each other. The mailbox and its bell are read before the epoch. If the epoch
/// equals the one of the last reading, the rank rested while they were read.
pub(super) fn read(segment: &Segment, rank: u32, together: bool) -> Option<Reading> {
    let mailbox = segment.mailbox(rank);
    let (tail, head) = mailbox.positions();
    // A bell that was rung shows that another rank may have given this rank work. Or it has written
    // a cell that this rank awaits. This holds even if the rank has not run since.
    let is_rung = !mailbox.is_armed();
    // The end of a job rings all bells, and then nobody goes on.
    let may_go_on = !segment.start_barrier().is_stopped();
    let status = segment.status(rank);
    let reading = Reading {
        epoch: status.epoch(),
        state: status.state(),
        sent: status.remote_sent.load(Ordering::SeqCst),
        taken: status.remote_taken.load(Ordering::SeqCst),
    };
    let rests = match reading.state {
        State::Idle => tail == head && !(is_rung && (together || may_go_on)),
        // A rank that has ended its part does not arm its mailbox any more.
        State::Done => tail == head && !(together && is_rung),
        State::Starting | State::Running | State::Failed => false,
    };
    rests.then_some(reading)
}
