//! Simulates the events of a run in the order of time.

use super::lanes::{Lanes, Taken, placement};
use super::local::local_ns;
use crate::machine::Machine;
use crate::whole::{TooLarge, Trace, Vertex, Whole};
use goal_lang::Action;
use rustc_hash::FxHashMap;
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

/// An event: the bits of its time, its number, and its kind. The number orders events of the same
/// time by their first insertion.
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
    /// By number of an event, true if the event waited for its processor or interface.
    is_waiting: Vec<bool>,
    /// By the processor and interface side that they need, the events that wait for these.
    waiting: FxHashMap<Taken, BinaryHeap<Reverse<(u32, Kind)>>>,
    /// By vertex, the number of unmet dependencies.
    missing: Vec<u32>,
    /// By vertex, the time at which its last dependency was met.
    ready_ns: Vec<f64>,
    /// By vertex, the time at which the receive started or the message of the send was taken in;
    /// infinite before.
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
            is_waiting: Vec::new(),
            waiting: FxHashMap::default(),
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
        while let Some(event) = self.events.pop() {
            self.handle(event);
        }
        match self.whole.len() as u64 - self.ended {
            0 => Ok(Prediction { finish_ns: self.lanes.finish() }),
            stuck => Err(CostError::Stuck(stuck, self.machine.eager_bytes_max)),
        }
    }

    /// Executes an event, or lets it wait until its processor and interface are free.
    ///
    /// Events that need the same processor and interface wait in one queue. Only the first of a
    /// queue is among `events`, which are in the order of time. So an event is looked at again only
    /// when its turn comes.
    fn handle(&mut self, Reverse((time, number, kind)): Event) {
        let now = f64::from_bits(time);
        let Some(taken) = self.taken(kind) else { return self.execute(kind, None, now) };
        let is_waiting = self.is_waiting[number as usize];
        if is_waiting && self.first_waiting(taken) != Some((number, kind)) {
            // The event was executed already, or another event has become the first of the queue.
            return;
        }
        let free = self.lanes.free(taken);
        if free > now {
            if !is_waiting {
                self.is_waiting[number as usize] = true;
                self.waiting.entry(taken).or_default().push(Reverse((number, kind)));
            }
            if self.first_waiting(taken) == Some((number, kind)) {
                self.events.push(Reverse((free.to_bits(), number, kind)));
            }
            return;
        }
        self.execute(kind, Some(taken), now);
        if is_waiting {
            self.waiting.entry(taken).or_default().pop();
            if let Some((number, kind)) = self.first_waiting(taken) {
                let free = self.lanes.free(taken);
                self.events.push(Reverse((free.to_bits(), number, kind)));
            }
        }
    }

    /// Returns the first event that waits for `taken`.
    fn first_waiting(&self, taken: Taken) -> Option<(u32, Kind)> {
        self.waiting.get(&taken)?.peek().map(|&Reverse(first)| first)
    }

    /// Returns the processor and the interface that an event takes, or `None` if it takes none.
    fn taken(&self, kind: Kind) -> Option<Taken> {
        match kind {
            Kind::Start(vertex) => {
                let (rank, action) = (self.whole.rank(vertex), self.whole.action(vertex));
                let at = placement(action);
                match action {
                    Action::Send { .. } => Some(self.lanes.of_send(rank, at)),
                    Action::Recv { .. } => None,
                    _ => (self.local_ns(vertex) > 0.0).then(|| self.lanes.of_local(rank, at)),
                }
            }
            Kind::Arrival(send) => {
                let Action::Send { to, placement: at, .. } = *self.whole.action(send) else {
                    unreachable!("a send's message")
                };
                let recv = self.partner[send.index()].some();
                let by = recv.map_or(at, |recv| placement(self.whole.action(recv)));
                Some(self.lanes.of_arrival(to, by))
            }
        }
    }

    fn local_ns(&self, vertex: Vertex) -> f64 {
        local_ns(self.whole.body(vertex), self.whole.action(vertex), self.machine)
    }

    /// Adds an event that happens at `time`. Times are not negative, so their bits have the same
    /// order.
    fn insert(&mut self, time: f64, kind: Kind) {
        self.events.push(Reverse((time.to_bits(), self.numbered, kind)));
        self.is_waiting.push(false);
        self.numbered += 1;
    }

    /// Executes an event whose processor and interface are free.
    fn execute(&mut self, kind: Kind, taken: Option<Taken>, now: f64) {
        match kind {
            Kind::Start(vertex) => self.start(vertex, taken, now),
            Kind::Arrival(send) => self.arrive(send, taken, now),
        }
    }

    fn start(&mut self, vertex: Vertex, taken: Option<Taken>, now: f64) {
        self.begin(vertex, now);
        match *self.whole.action(vertex) {
            Action::Send { .. } => {
                let size = self.whole.message_size(vertex);
                let (rest, machine) = (size.saturating_sub(1) as f64, self.machine);
                let end = now + machine.overhead_ns + rest * machine.overhead_per_byte_ns;
                let gap_end = now + machine.gap_ns + rest * machine.gap_per_byte_ns;
                self.take(taken, end, gap_end);
                self.insert(now + machine.overhead_ns + machine.latency_ns, Kind::Arrival(vertex));
                if size <= machine.eager_bytes_max {
                    self.end(vertex, end);
                }
            }
            Action::Recv { .. } => {
                self.there_ns[vertex.index()] = now;
                if let Some(send) = self.there(self.partner[vertex.index()]) {
                    self.release_sender(send, now);
                    self.end(vertex, now.max(self.there_ns[send.index()]));
                }
            }
            _ => {
                let end = now + self.local_ns(vertex);
                self.take(taken, end, end);
                self.end(vertex, end);
            }
        }
    }

    /// Takes an arriving message in. Ends its receive if that has started.
    fn arrive(&mut self, send: Vertex, taken: Option<Taken>, now: f64) {
        let size = self.whole.message_size(send);
        let (rest, machine) = (size.saturating_sub(1) as f64, self.machine);
        let end = now
            + machine.overhead_ns
            + rest * machine.overhead_per_byte_ns.max(machine.gap_per_byte_ns);
        let gap_end = now + machine.gap_ns + rest * machine.gap_per_byte_ns;
        self.take(taken, end, gap_end);
        self.there_ns[send.index()] = end;
        if let Some(recv) = self.there(self.partner[send.index()]) {
            self.release_sender(send, now);
            self.end(recv, end);
        }
    }

    fn take(&mut self, taken: Option<Taken>, cpu: f64, nic: f64) {
        if let Some(taken) = taken {
            self.lanes.take(taken, cpu, nic);
        }
    }

    /// Returns `vertex` if it is a receive that has started, or a send whose message was taken in.
    fn there(&self, vertex: Vertex) -> Option<Vertex> {
        vertex.some().filter(|vertex| self.there_ns[vertex.index()].is_finite())
    }

    /// Ends a send that had to wait for its receive. Does nothing for an eager send.
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
            let free = self.lanes.cpu_free(self.whole.rank(vertex), at);
            self.insert(ready.max(free), Kind::Start(vertex));
        }
    }
}
