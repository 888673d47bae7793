//! Simulates the events of a run in the order of time.

use super::lanes::{Lanes, placement};
use super::local::local_ns;
use crate::machine::Machine;
use crate::whole::{TooLarge, Trace, Vertex, Whole};
use goal_lang::Action;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The predicted times of a program on a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// By rank, the time at which its last processor finishes, in nanoseconds after the start of
    /// all ranks.
    pub finish_ns: Vec<f64>,
}

impl Prediction {
    /// The time at which the last rank ends, in nanoseconds.
    pub fn makespan_ns(&self) -> f64 {
        self.finish_ns.iter().copied().fold(0.0, f64::max)
    }
}

/// The reason why there is no prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CostError {
    /// The program has too many actions.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// The program does not end on this machine.
    #[error(
        "{0} actions never end on this machine, on which sends of more than {1} bytes wait for their receives"
    )]
    Stuck(u64, u64),
}

/// An event: the bits of its time, a number that orders events of the same time by their first
/// insertion, and its kind.
type Event = Reverse<(u64, u32, Kind)>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// An action whose dependencies are met starts as soon as its resources are free.
    Start(Vertex),
    /// The first byte of a send's message arrives.
    Arrival(Vertex),
}

pub(super) struct Simulation<'w, 'p> {
    whole: &'w Whole<'p>,
    partner: &'w [Vertex],
    machine: &'w Machine,
    lanes: Lanes,
    events: BinaryHeap<Event>,
    numbered: u32,
    /// By vertex, the number of unmet dependencies.
    missing: Vec<u32>,
    /// By vertex, the time at which its last dependency was met.
    ready_ns: Vec<f64>,
    /// By vertex, the time at which a receive started or a message was taken in; infinite before.
    there_ns: Vec<f64>,
    ended: u64,
}

impl<'w, 'p> Simulation<'w, 'p> {
    pub(super) fn new(whole: &'w Whole<'p>, trace: &'w Trace, machine: &'w Machine) -> Self {
        let mut missing = vec![0; whole.len()];
        for vertex in whole.vertices() {
            for waiter in whole.requires(vertex).chain(whole.irequires(vertex)) {
                missing[waiter.index()] += 1;
            }
        }
        Self {
            whole,
            partner: &trace.partner,
            machine,
            lanes: Lanes::new(whole.program),
            events: BinaryHeap::new(),
            numbered: 0,
            missing,
            ready_ns: vec![0.0; whole.len()],
            there_ns: vec![f64::INFINITY; whole.len()],
            ended: 0,
        }
    }

    pub(super) fn run(mut self) -> Result<Prediction, CostError> {
        for vertex in self.whole.vertices() {
            if self.missing[vertex.index()] == 0 {
                self.insert(0.0, Kind::Start(vertex));
            }
        }
        while let Some(Reverse((time, number, kind))) = self.events.pop() {
            let now = f64::from_bits(time);
            let later = match kind {
                Kind::Start(vertex) => self.start(vertex, now),
                Kind::Arrival(send) => self.arrive(send, now),
            };
            if let Some(later) = later {
                self.events.push(Reverse((later.to_bits(), number, kind)));
            }
        }
        match self.whole.len() as u64 - self.ended {
            0 => Ok(Prediction { finish_ns: self.lanes.finish() }),
            stuck => Err(CostError::Stuck(stuck, self.machine.eager_bytes_max)),
        }
    }

    /// Times are not negative, so their bits have the same order.
    fn insert(&mut self, time: f64, kind: Kind) {
        self.events.push(Reverse((time.to_bits(), self.numbered, kind)));
        self.numbered += 1;
    }

    /// Starts an action, or returns the time at which its resources become free.
    fn start(&mut self, vertex: Vertex, now: f64) -> Option<f64> {
        let (rank, action) = (self.whole.rank(vertex), self.whole.action(vertex));
        let at = placement(action);
        match *action {
            Action::Send { payload, .. } => {
                let free = self.lanes.cpu(rank, at).max(*self.lanes.sending(rank, at));
                if free > now {
                    return Some(free);
                }
                self.begin(vertex, now);
                let size = self.whole.body(vertex).payload_size(payload);
                let (rest, machine) = (size.saturating_sub(1) as f64, self.machine);
                let end = now + machine.overhead_ns + rest * machine.overhead_per_byte_ns;
                *self.lanes.cpu(rank, at) = end;
                *self.lanes.sending(rank, at) =
                    now + machine.gap_ns + rest * machine.gap_per_byte_ns;
                self.insert(now + machine.overhead_ns + machine.latency_ns, Kind::Arrival(vertex));
                if size <= machine.eager_bytes_max {
                    self.end(vertex, end);
                }
            }
            Action::Recv { .. } => {
                self.begin(vertex, now);
                self.there_ns[vertex.index()] = now;
                if let Some(send) = self.there(self.partner[vertex.index()]) {
                    self.release_sender(send, now);
                    self.end(vertex, now.max(self.there_ns[send.index()]));
                }
            }
            _ => {
                let cost = local_ns(self.whole.body(vertex), action, self.machine);
                let free = *self.lanes.cpu(rank, at);
                if cost > 0.0 && free > now {
                    return Some(free);
                }
                self.begin(vertex, now);
                if cost > 0.0 {
                    *self.lanes.cpu(rank, at) = now + cost;
                }
                self.end(vertex, now + cost);
            }
        }
        None
    }

    /// Takes a message in, or returns the time at which the receiver becomes free.
    fn arrive(&mut self, send: Vertex, now: f64) -> Option<f64> {
        let Action::Send { payload, to, placement: at, .. } = *self.whole.action(send) else {
            unreachable!("a send's message")
        };
        let recv = self.partner[send.index()];
        let by = recv.some().map_or(at, |recv| placement(self.whole.action(recv)));
        let free = self.lanes.cpu(to, by).max(*self.lanes.receiving(to, by));
        if free > now {
            return Some(free);
        }
        let size = self.whole.body(send).payload_size(payload);
        let (rest, machine) = (size.saturating_sub(1) as f64, self.machine);
        let end = now
            + machine.overhead_ns
            + rest * machine.overhead_per_byte_ns.max(machine.gap_per_byte_ns);
        *self.lanes.cpu(to, by) = end;
        *self.lanes.receiving(to, by) = now + machine.gap_ns + rest * machine.gap_per_byte_ns;
        self.there_ns[send.index()] = end;
        if let Some(recv) = self.there(recv) {
            self.release_sender(send, now);
            self.end(recv, end);
        }
        None
    }

    /// The other end of a message, if it has started or arrived.
    fn there(&self, vertex: Vertex) -> Option<Vertex> {
        vertex.some().filter(|vertex| self.there_ns[vertex.index()].is_finite())
    }

    /// Ends a send that waited for its receive, when the two meet.
    fn release_sender(&mut self, send: Vertex, now: f64) {
        if self.whole.message_size(send) > self.machine.eager_bytes_max {
            self.end(send, now);
        }
    }

    fn begin(&mut self, vertex: Vertex, now: f64) {
        for waiter in self.whole.irequires(vertex) {
            self.release(waiter, now);
        }
    }

    fn end(&mut self, vertex: Vertex, time: f64) {
        self.ended += 1;
        for waiter in self.whole.requires(vertex) {
            self.release(waiter, time);
        }
    }

    fn release(&mut self, vertex: Vertex, time: f64) {
        let ready = &mut self.ready_ns[vertex.index()];
        *ready = ready.max(time);
        let ready = *ready;
        self.missing[vertex.index()] -= 1;
        if self.missing[vertex.index()] == 0 {
            let at = placement(self.whole.action(vertex));
            let free = *self.lanes.cpu(self.whole.rank(vertex), at);
            self.insert(ready.max(free), Kind::Start(vertex));
        }
    }
}
