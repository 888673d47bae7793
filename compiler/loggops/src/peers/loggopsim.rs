//! The model of LogGOPSim (spcl/LogGOPSim), to the nanosecond.
//!
//! Events are taken in the order of time, then in the order in which they were first made. An event
//! whose processor or interface is busy comes back when that is free, with its first number. What
//! an event releases becomes ready when its own processor is free (a send: and its gap), even if
//! that lies before the event. So the times of events can go back.

use super::busy::Busy;
use super::stdcxx::sort;
use super::{Outcome, Pair, Parameters};
use crate::channels::Channels;
use crate::matching::Matching;
use crate::workload::{Kind, Workload};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Set in the number of an event for the message of a send.
const MESSAGE: u32 = 1 << 31;

/// The place of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In the queue of events, if it has been made.
    Queue,
    /// Among the events that wait for a processor and an interface.
    Waiting,
    /// It is over.
    Past,
}

/// Simulates a program as LogGOPSim does. Times are unsigned and wrap as LogGOPSim's do.
pub fn simulate(workload: &Workload, parameters: &Parameters) -> Outcome {
    let mut simulation = Simulation::new(workload, *parameters);
    simulation.run();
    simulation.finish()
}

/// The rank of a kind in the order of kinds.
fn order(workload: &Workload, action: u32) -> Kind {
    workload.record(action).kind.min(Kind::Calc)
}

struct Simulation<'w> {
    workload: &'w Workload,
    parameters: Parameters,
    channels: Channels,
    matching: Matching,
    /// By action, its rank.
    ranks: Vec<u32>,
    /// By action, the dependencies that are not met.
    missing: Vec<u32>,
    /// When each processor and both sides of each interface are free.
    cpu: Busy,
    sending: Busy,
    receiving: Busy,
    /// Time, number and event; the least comes first.
    events: BinaryHeap<Reverse<(u64, u32, u32)>>,
    /// By event, where it is; a message behind all actions.
    places: Vec<Place>,
    /// By what they wait for, the numbers of the events that were found busy. Only the first of
    /// each is in the queue, so that an event is looked at again only when its turn comes.
    waiting: FxHashMap<u64, BinaryHeap<Reverse<(u32, u32)>>>,
    numbered: u32,
    /// The actions that the present event made ready: rank and action.
    ready: Vec<(u32, u32)>,
    is_ended: Vec<bool>,
    unequal: Option<Pair>,
}

impl<'w> Simulation<'w> {
    fn new(workload: &'w Workload, parameters: Parameters) -> Self {
        let channels = Channels::new(workload);
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
            events: BinaryHeap::new(),
            places: vec![Place::Queue; 2 * workload.len()],
            waiting: FxHashMap::default(),
            numbered: 0,
            ready: Vec::new(),
            is_ended: vec![false; workload.len()],
            unequal: None,
            workload,
            parameters,
        }
    }

    fn run(&mut self) {
        for rank in 0..self.workload.num_ranks() as u32 {
            self.ready.extend(self.workload.roots(rank).iter().map(|&root| (rank, root)));
            self.enter(|_, _| 0);
        }
        while let Some(Reverse((time, number, event))) = self.events.pop() {
            self.handle(time, number, event);
            if !self.ready.is_empty() {
                self.enter(Self::free);
            }
        }
    }

    /// Executes an event, or lets it wait until its processor and interface are free.
    fn handle(&mut self, now: u64, number: u32, event: u32) {
        let at = self.place(event);
        let place = self.places[at];
        if place == Place::Past {
            return;
        }
        let Some((class, free)) = self.needs(event) else {
            self.places[at] = Place::Past;
            return self.execute(now, event);
        };
        let first = |waiting: &FxHashMap<u64, BinaryHeap<Reverse<(u32, u32)>>>| {
            waiting.get(&class).and_then(|events| events.peek()).map(|&Reverse(first)| first)
        };
        if place == Place::Waiting && first(&self.waiting) != Some((number, event)) {
            // Another one has come before it, and has an entry of its own in the queue.
            return;
        }
        if free > now {
            if place == Place::Queue {
                self.places[at] = Place::Waiting;
                self.waiting.entry(class).or_default().push(Reverse((number, event)));
            }
            if first(&self.waiting) == Some((number, event)) {
                self.events.push(Reverse((free, number, event)));
            }
            return;
        }
        self.places[at] = Place::Past;
        self.execute(now, event);
        if place == Place::Waiting
            && let Some(events) = self.waiting.get_mut(&class)
        {
            events.pop();
            if let Some(&Reverse((number, next))) = events.peek() {
                let free = self.needs(next).map_or(now, |(_, free)| free);
                self.events.push(Reverse((free.max(now), number, next)));
            }
        }
    }

    fn execute(&mut self, now: u64, event: u32) {
        match event & MESSAGE {
            0 => self.start(now, event),
            _ => self.take(now, event & !MESSAGE),
        }
    }

    /// Returns the index of an event in `places`.
    fn place(&self, event: u32) -> usize {
        let action = (event & !MESSAGE) as usize;
        if event & MESSAGE == 0 { action } else { self.workload.len() + action }
    }

    /// Returns a number for the processor and the interface that an event needs, and the time at
    /// which they are free. `None` if it needs none.
    fn needs(&self, event: u32) -> Option<(u64, u64)> {
        let action = event & !MESSAGE;
        let record = self.workload.record(action);
        let (rank, kind) = match record.kind {
            Kind::Recv => return None,
            Kind::Send if event & MESSAGE != 0 => (record.peer, 2),
            Kind::Send => (self.ranks[action as usize], 1),
            Kind::Calc | Kind::Local | Kind::Dummy => (self.ranks[action as usize], 0),
        };
        let mut free = self.cpu[(rank, record.cpu)];
        let mut class = u64::from(rank) << 26 | u64::from(record.cpu) << 10;
        if kind > 0 {
            let side = if kind == 1 { &self.sending } else { &self.receiving };
            free = free.max(side[(rank, u16::from(record.nic))]);
            class |= u64::from(record.nic) << 2 | kind;
        }
        Some((class, free))
    }

    /// Adds the events of what became ready: by rank, then by kind as `std::sort` orders it.
    fn enter(&mut self, time: impl Fn(&Self, u32) -> u64) {
        let mut ready = std::mem::take(&mut self.ready);
        if ready.len() > 1 {
            ready.sort_by_key(|&(rank, _)| rank);
            let workload = self.workload;
            for of_rank in ready.chunk_by_mut(|a, b| a.0 == b.0) {
                sort(of_rank, |a, b| order(workload, a.1) < order(workload, b.1));
            }
        }
        for &(_, action) in &ready {
            let time = time(self, action);
            self.insert(time, action);
        }
        ready.clear();
        self.ready = ready;
    }

    fn insert(&mut self, time: u64, event: u32) {
        self.events.push(Reverse((time, self.numbered, event)));
        self.numbered += 1;
    }

    /// Returns the time at which an action's processor is free, for a send also its gap.
    fn free(&self, action: u32) -> u64 {
        let (record, rank) = (self.workload.record(action), self.ranks[action as usize]);
        let free = self.cpu[(rank, record.cpu)];
        match record.kind {
            Kind::Send => free.max(self.sending[(rank, u16::from(record.nic))]),
            Kind::Recv | Kind::Calc | Kind::Local | Kind::Dummy => free,
        }
    }

    fn start(&mut self, now: u64, action: u32) {
        let record = *self.workload.record(action);
        let rank = self.ranks[action as usize];
        let cpu = (rank, record.cpu);
        self.begin(action);
        let p = self.parameters;
        match record.kind {
            Kind::Calc | Kind::Local | Kind::Dummy => {
                self.cpu[cpu] = now.wrapping_add(record.nanos());
                self.end(action);
            }
            Kind::Send => {
                let rest = record.size.wrapping_sub(1);
                let nic = (rank, u16::from(record.nic));
                self.cpu[cpu] = now
                    .wrapping_add(p.overhead)
                    .wrapping_add(rest.wrapping_mul(p.overhead_per_byte));
                self.sending[nic] =
                    now.wrapping_add(p.gap).wrapping_add(rest.wrapping_mul(p.gap_per_byte));
                self.insert(now.wrapping_add(p.overhead).wrapping_add(p.latency), action | MESSAGE);
                if record.size <= p.eager_bytes_max {
                    self.end(action);
                }
            }
            Kind::Recv => {
                let channel = self.channels.of(action);
                let message = if self.channels.has_wildcards[rank as usize] {
                    self.matching.take_message(rank, record.peer, record.tag)
                } else {
                    self.matching.pop(self.workload, channel, Kind::Send)
                };
                match message {
                    Some(send) => {
                        self.compare(send, action);
                        // The receive's size, processor and interface decide, also at the sender.
                        if record.size > p.eager_bytes_max {
                            self.release(send, now, record.cpu, record.nic);
                        }
                        self.end(action);
                    }
                    None if self.channels.has_wildcards[rank as usize] => {
                        self.matching.keep_receive(rank, record.peer, record.tag, action);
                    }
                    None => self.matching.push(channel, action),
                }
            }
        }
    }

    /// Takes a message in at its receiver, on the processor and interface that its send names.
    fn take(&mut self, now: u64, send: u32) {
        let record = *self.workload.record(send);
        let (to, from) = (record.peer, self.ranks[send as usize]);
        let (cpu, nic) = ((to, record.cpu), (to, u16::from(record.nic)));
        let p = self.parameters;
        let rest = record.size.wrapping_sub(1);
        let bytes = rest.wrapping_mul(p.overhead_per_byte).max(rest.wrapping_mul(p.gap_per_byte));
        self.cpu[cpu] = now.wrapping_add(p.overhead).wrapping_add(bytes);
        self.receiving[nic] =
            now.wrapping_add(p.gap).wrapping_add(rest.wrapping_mul(p.gap_per_byte));
        let channel = self.channels.of(send);
        let has_wildcards = self.channels.has_wildcards[to as usize];
        let receive = if has_wildcards {
            self.matching.take_receive(to, from, record.tag)
        } else {
            self.matching.pop(self.workload, channel, Kind::Recv)
        };
        match receive {
            Some(receive) => {
                self.compare(send, receive);
                if record.size > p.eager_bytes_max {
                    self.release(send, now, record.cpu, record.nic);
                }
                self.end(receive);
            }
            None if has_wildcards => self.matching.keep_message(to, from, record.tag, send),
            None => self.matching.push(channel, send),
        }
    }

    /// Ends a send that waited for its receive, and holds its rank's processor and gap until now.
    fn release(&mut self, send: u32, now: u64, cpu: u16, nic: u8) {
        let rank = self.ranks[send as usize];
        let (cpu, nic) = ((rank, cpu), (rank, u16::from(nic)));
        self.cpu[cpu] = self.cpu[cpu].max(now);
        self.sending[nic] = self.sending[nic].max(now);
        self.end(send);
    }

    fn compare(&mut self, send: u32, receive: u32) {
        if self.workload.record(send).size != self.workload.record(receive).size {
            self.unequal.get_or_insert(Pair { send, receive });
        }
    }

    fn begin(&mut self, action: u32) {
        let workload = self.workload;
        for &waiter in workload.start_waiters(action) {
            self.meet(waiter);
        }
    }

    fn end(&mut self, action: u32) {
        // A send may end twice: when it starts, and if its receive states more bytes again.
        self.is_ended[action as usize] = true;
        let workload = self.workload;
        for &waiter in workload.waiters(action) {
            self.meet(waiter);
        }
    }

    fn meet(&mut self, waiter: u32) {
        let missing = &mut self.missing[waiter as usize];
        *missing = missing.wrapping_sub(1);
        if *missing == 0 {
            self.ready.push((self.ranks[waiter as usize], waiter));
        }
    }

    fn finish(self) -> Outcome {
        let left = self.is_ended.iter().filter(|&&is_ended| !is_ended).count() as u64;
        Outcome {
            finish_ns: self.cpu.latest(),
            events: u64::from(self.numbered),
            left,
            waiting: self.matching.num_waiting(),
            unequal: self.unequal,
        }
    }
}
