//! The state that the models of both peers have: the machine, the dependencies and the queues.

use super::jobs::{AT_START, Job, Jobs, Pairing, SEVERAL};
use super::units::Units;
use super::{Meeting, Observer, Outcome, Pair, Parameters};
use crate::channels::NONE;
use crate::matching::Matching;
use crate::workload::{Kind, Workload};
use std::hint::black_box;

/// Set in the number of an event for the message of a send.
pub(super) const MESSAGE: u32 = 1 << 31;

/// The messages that wait in a channel, or the receives.
#[derive(Debug, Clone, Copy)]
struct Channel {
    /// A receive, or a send with [`MESSAGE`] set.
    first: u32,
    last: u32,
}

const EMPTY: Channel = Channel { first: NONE, last: NONE };

pub(super) struct State<'w, O> {
    pub(super) workload: &'w Workload,
    pub(super) parameters: Parameters,
    pub(super) observer: &'w mut O,
    pub(super) jobs: Vec<Job>,
    /// When each processor and both sides of each interface are free.
    pub(super) units: Units,
    /// The channels of messages that meet in order.
    channels: Vec<Channel>,
    /// By action, the one behind it in its channel.
    next: Vec<u32>,
    wild: Matching,
    /// Messages and receives that wait.
    waiting: u64,
    ended: u64,
    unequal: Option<Pair>,
}

impl<'w, O: Observer> State<'w, O> {
    /// Ranks `with_wildcards` take the first message that fits.
    pub(super) fn new(
        workload: &'w Workload,
        parameters: Parameters,
        with_wildcards: &[bool],
        observer: &'w mut O,
    ) -> Self {
        let Jobs { all, channels } = Jobs::new(workload, with_wildcards);
        Self {
            next: if channels > 0 { vec![NONE; all.len()] } else { Vec::new() },
            channels: vec![EMPTY; channels],
            jobs: all,
            units: Units::new(workload),
            wild: Matching::for_wildcards(workload, with_wildcards),
            waiting: 0,
            ended: 0,
            unequal: None,
            workload,
            parameters,
            observer,
        }
    }

    #[inline]
    pub(super) fn job(&self, action: u32) -> &Job {
        &self.jobs[action as usize]
    }

    /// Reads the action of an event into the cache.
    #[inline]
    pub(super) fn read_action(&self, event: u32) {
        black_box(self.job(event & !MESSAGE).size);
    }

    /// Reads into the cache the rank of an event, and what an event meets.
    #[inline]
    pub(super) fn read_needs(&self, event: u32) {
        let job = self.job(event & !MESSAGE);
        let is_message = event & MESSAGE != 0;
        self.units.read(if is_message { job.to } else { job.rank });
        match job.pairing() {
            Pairing::Known if is_message => {
                black_box(self.job(job.partner).waiter);
            }
            Pairing::InOrder => {
                black_box(self.channels[job.partner as usize].first);
            }
            _ => {}
        }
    }

    /// Reads into the cache what waits for an event.
    #[inline]
    pub(super) fn read_waiters(&self, event: u32) {
        let action = event & !MESSAGE;
        let job = self.job(action);
        let ending = match job.pairing() {
            _ if event & MESSAGE == 0 => action,
            Pairing::Known => job.partner,
            Pairing::InOrder => self.channels[job.partner as usize].first & !MESSAGE,
            Pairing::Wild | Pairing::Never => return,
        };
        let waiter = match self.jobs.get(ending as usize).map(|job| job.waiter) {
            Some(SEVERAL) => self.workload.waiters(ending).first().copied(),
            waiter => waiter,
        };
        black_box(waiter.and_then(|waiter| self.jobs.get(waiter as usize)).map(|job| job.missing));
    }

    /// Meets a dependency of an action. Returns true if it was the last one.
    #[inline]
    pub(super) fn meet(&mut self, waiter: u32) -> bool {
        let missing = &mut self.jobs[waiter as usize].missing;
        *missing = missing.wrapping_sub(1);
        *missing == 0
    }

    /// Ends an action, and calls `meet` for what waits for that.
    #[inline]
    pub(super) fn end(&mut self, action: u32, mut meet: impl FnMut(&mut Self, u32)) {
        let job = &mut self.jobs[action as usize];
        // A send may end twice: when it starts, and if its receive states more bytes again.
        self.ended += u64::from(job.end());
        match job.waiter {
            NONE => {}
            SEVERAL | AT_START => {
                let workload = self.workload;
                workload.waiters(action).iter().for_each(|&waiter| meet(self, waiter));
            }
            waiter => meet(self, waiter),
        }
    }

    /// Starts an action, and calls `meet` for what waits for that.
    #[inline]
    pub(super) fn begin(&mut self, action: u32, mut meet: impl FnMut(&mut Self, u32)) {
        if self.job(action).waiter == AT_START {
            let workload = self.workload;
            workload.start_waiters(action).iter().for_each(|&waiter| meet(self, waiter));
        }
    }

    /// Returns true if `size` bytes are handed over before the receive is posted.
    #[inline]
    pub(super) fn is_eager(&self, size: u64) -> bool {
        size <= self.parameters.eager_bytes_max
    }

    /// Returns the message that a receive takes. `None` if the receive waits from now on.
    #[inline]
    pub(super) fn take_message(&mut self, receive: u32, now: u64) -> Option<u32> {
        let job = &mut self.jobs[receive as usize];
        let (partner, rank) = (job.partner, job.rank);
        let found = match job.pairing() {
            Pairing::Known => job.wait().then_some(partner),
            Pairing::InOrder => self.pop(partner, MESSAGE),
            Pairing::Wild => {
                let record = self.workload.record(receive);
                self.wild.take_message(rank, record.peer, record.tag)
            }
            Pairing::Never => None,
        };
        self.note_search(receive, now, found)
    }

    /// Returns the receive that takes a message. `None` if the message waits from now on.
    #[inline]
    pub(super) fn take_receive(&mut self, send: u32, now: u64) -> Option<u32> {
        let Job { partner, to, rank, .. } = *self.job(send);
        let found = match self.job(send).pairing() {
            Pairing::Known => self.jobs[partner as usize].wait().then_some(partner),
            Pairing::InOrder => self.pop(partner, 0),
            Pairing::Wild => self.wild.take_receive(to, rank, self.workload.record(send).tag),
            Pairing::Never => None,
        };
        self.note_search(send, now, found)
    }

    #[inline]
    fn note_search(&mut self, action: u32, now: u64, found: Option<u32>) -> Option<u32> {
        match found {
            Some(_) => self.waiting -= 1,
            None => {
                self.observer.wait(action, now);
                self.keep(action);
            }
        }
        found
    }

    /// Lets a message or a receive wait behind the others of its channel.
    pub(super) fn keep(&mut self, action: u32) {
        self.waiting += 1;
        let job = *self.job(action);
        match job.pairing() {
            Pairing::Known | Pairing::Never => {}
            Pairing::InOrder => {
                let event = if job.kind() == Kind::Send { action | MESSAGE } else { action };
                let channel = &mut self.channels[job.partner as usize];
                match channel.last {
                    NONE => channel.first = event,
                    last => self.next[last as usize] = event,
                }
                channel.last = action;
            }
            Pairing::Wild => {
                let record = self.workload.record(action);
                if record.kind == Kind::Send {
                    self.wild.keep_message(job.to, job.rank, record.tag, action);
                } else {
                    self.wild.keep_receive(job.rank, record.peer, record.tag, action);
                }
            }
        }
    }

    /// Removes and returns the first message of a channel, for `kind` [`MESSAGE`], or the first
    /// receive, for 0.
    fn pop(&mut self, channel: u32, kind: u32) -> Option<u32> {
        let channel = &mut self.channels[channel as usize];
        if channel.last == NONE || channel.first & MESSAGE != kind {
            return None;
        }
        let first = channel.first & !MESSAGE;
        if channel.last == first {
            *channel = EMPTY;
        } else {
            channel.first = self.next[first as usize];
        }
        Some(first)
    }

    /// Notes that a message and a receive meet.
    #[inline]
    pub(super) fn meet_at(&mut self, now: u64, send: u32, receive: u32, is_unexpected: bool) {
        let pair = Pair { send, receive };
        self.observer.meet(Meeting { pair, time: now, is_unexpected });
        let job = self.job(receive);
        if job.may_be_unequal() && job.size != self.job(send).size {
            self.unequal.get_or_insert(pair);
        }
    }

    pub(super) fn finish(self, events: u64) -> Outcome {
        Outcome {
            finish_ns: self.units.finish(),
            events,
            left: self.jobs.len() as u64 - self.ended,
            waiting: self.waiting,
            unequal: self.unequal,
        }
    }
}
