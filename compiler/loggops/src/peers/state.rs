//! The state that the models of both peers have: the machine, the dependencies and the queues.

use super::busy::Busy;
use super::{Meeting, Observer, Outcome, Pair, Parameters};
use crate::channels::Channels;
use crate::matching::Matching;
use crate::workload::Workload;

/// Set in the number of an event for the message of a send.
pub(super) const MESSAGE: u32 = 1 << 31;

pub(super) struct State<'w, O> {
    pub(super) workload: &'w Workload,
    pub(super) parameters: Parameters,
    pub(super) observer: &'w mut O,
    pub(super) channels: Channels,
    pub(super) matching: Matching,
    /// By action, its rank.
    pub(super) ranks: Vec<u32>,
    /// By action, the dependencies that are not met.
    missing: Vec<u32>,
    /// When each processor and both sides of each interface are free.
    pub(super) cpu: Busy,
    pub(super) sending: Busy,
    pub(super) receiving: Busy,
    pub(super) is_ended: Vec<bool>,
    unequal: Option<Pair>,
}

impl<'w, O: Observer> State<'w, O> {
    pub(super) fn new(
        workload: &'w Workload,
        parameters: Parameters,
        channels: Channels,
        observer: &'w mut O,
    ) -> Self {
        let ranks = workload.num_ranks();
        Self {
            matching: Matching::new(workload, &channels),
            channels,
            ranks: (0..ranks as u32)
                .flat_map(|rank| workload.actions(rank).map(move |_| rank))
                .collect(),
            missing: (0..workload.len() as u32).map(|a| workload.record(a).missing).collect(),
            cpu: Busy::new(workload, workload.cpus),
            sending: Busy::new(workload, workload.nics),
            receiving: Busy::new(workload, workload.nics),
            is_ended: vec![false; workload.len()],
            unequal: None,
            workload,
            parameters,
            observer,
        }
    }

    /// Meets a dependency of an action. Returns true if it was the last one.
    pub(super) fn meet(&mut self, waiter: u32) -> bool {
        let missing = &mut self.missing[waiter as usize];
        *missing = missing.wrapping_sub(1);
        *missing == 0
    }

    /// Notes that a message and a receive meet.
    pub(super) fn meet_at(&mut self, time: u64, send: u32, receive: u32, is_unexpected: bool) {
        let pair = Pair { send, receive };
        self.observer.meet(Meeting { pair, time, is_unexpected });
        if self.workload.record(send).size != self.workload.record(receive).size {
            self.unequal.get_or_insert(pair);
        }
    }

    pub(super) fn finish(self, events: u64) -> Outcome {
        let left = self.is_ended.iter().filter(|&&is_ended| !is_ended).count() as u64;
        Outcome {
            finish_ns: self.cpu.latest(),
            events,
            left,
            waiting: self.matching.num_waiting(),
            unequal: self.unequal,
        }
    }
}
