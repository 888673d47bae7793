//! The model of LogGOPSim (spcl/LogGOPSim), to the nanosecond.
//!
//! Events are taken in the order of time, then in the order in which they were first made. An event
//! whose processor or interface is busy comes back when that is free, with its first number. What
//! an event releases becomes ready when its own processor is free (a send: and its gap), even if
//! that lies before the event. So the times of events can go back.

use super::state::{MESSAGE, State};
use super::stdcxx::sort;
use super::{Observer, Outcome, Parameters};
use crate::channels::Channels;
use crate::workload::{Kind, Workload};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Events by their numbers; the least comes first.
type Numbered = BinaryHeap<Reverse<(u32, u32)>>;

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

/// Simulates a program as LogGOPSim does, and shows it to an observer. Times are unsigned and wrap
/// as LogGOPSim's do.
pub fn simulate(
    workload: &Workload,
    parameters: &Parameters,
    observer: &mut impl Observer,
) -> Outcome {
    let state = State::new(workload, *parameters, Channels::new(workload), observer);
    let mut simulation = Simulation {
        state,
        events: BinaryHeap::new(),
        places: vec![Place::Queue; 2 * workload.len()],
        waiting: FxHashMap::default(),
        numbered: 0,
        ready: Vec::new(),
    };
    simulation.run();
    simulation.state.finish(u64::from(simulation.numbered))
}

/// The rank of a kind in the order of kinds.
fn order(workload: &Workload, action: u32) -> Kind {
    workload.record(action).kind.min(Kind::Calc)
}

struct Simulation<'w, O> {
    state: State<'w, O>,
    /// Time, number and event; the least comes first.
    events: BinaryHeap<Reverse<(u64, u32, u32)>>,
    /// By event, where it is; a message behind all actions.
    places: Vec<Place>,
    /// By what they wait for and until when, the numbers of the events that were found busy. Only
    /// the first of each is in the queue, so that an event is looked at again only when its turn
    /// comes. Free times wrap, so events with one need may wait until different times.
    waiting: FxHashMap<(u64, u64), Numbered>,
    numbered: u32,
    /// The actions that the present event made ready: rank and action.
    ready: Vec<(u32, u32)>,
}

impl<O: Observer> Simulation<'_, O> {
    fn run(&mut self) {
        for rank in 0..self.state.workload.num_ranks() as u32 {
            self.ready.extend(self.state.workload.roots(rank).iter().map(|&root| (rank, root)));
            self.enter(|_, _| 0);
        }
        while let Some(Reverse((time, number, event))) = self.events.pop() {
            self.handle(time, number, event);
            if !self.ready.is_empty() {
                self.enter(Self::free);
            }
            self.state.observer.step(self.events.len(), u64::from(self.numbered));
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
        if free > now && self.state.observer.sees_retries() {
            self.state.observer.retry(event & !MESSAGE);
            return self.events.push(Reverse((free, number, event)));
        }
        if place == Place::Queue && free > now {
            self.places[at] = Place::Waiting;
            self.join((class, free), |events| events.push(Reverse((number, event))));
            return;
        }
        if place == Place::Waiting {
            let Some(events) = self.waiting.get_mut(&(class, now)) else { return };
            if events.peek() != Some(&Reverse((number, event))) {
                // Another one has come before it, and has an entry of its own in the queue.
                return;
            }
            let mut events = std::mem::take(events);
            self.waiting.remove(&(class, now));
            if free <= now {
                events.pop();
                self.places[at] = Place::Past;
                self.execute(now, event);
            }
            if let Some(&Reverse((_, next))) = events.peek() {
                let free = self.needs(next).map_or(now, |(_, free)| free.max(now));
                self.join((class, free), |others| others.append(&mut events));
            }
            return;
        }
        self.places[at] = Place::Past;
        self.execute(now, event);
    }

    /// Adds events to those that wait for something until a time.
    fn join(&mut self, until: (u64, u64), add: impl FnOnce(&mut Numbered)) {
        let events = self.waiting.entry(until).or_default();
        let before = events.peek().copied();
        add(events);
        let first = events.peek().copied();
        if let Some(Reverse((number, event))) = first
            && first != before
        {
            self.events.push(Reverse((until.1, number, event)));
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
        if event & MESSAGE == 0 { action } else { self.state.workload.len() + action }
    }

    /// Returns a number for the processor and the interface that an event needs, and the time at
    /// which they are free. `None` if it needs none.
    fn needs(&self, event: u32) -> Option<(u64, u64)> {
        let action = event & !MESSAGE;
        let record = self.state.workload.record(action);
        let (rank, kind) = match record.kind {
            Kind::Recv => return None,
            Kind::Send if event & MESSAGE != 0 => (record.peer, 2),
            Kind::Send => (self.state.ranks[action as usize], 1),
            Kind::Calc | Kind::Local | Kind::Dummy => (self.state.ranks[action as usize], 0),
        };
        let mut free = self.state.cpu[(rank, record.cpu)];
        let mut class = u64::from(rank) << 26 | u64::from(record.cpu) << 10;
        if kind > 0 {
            let side = if kind == 1 { &self.state.sending } else { &self.state.receiving };
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
            let workload = self.state.workload;
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
        let (record, rank) =
            (self.state.workload.record(action), self.state.ranks[action as usize]);
        let free = self.state.cpu[(rank, record.cpu)];
        match record.kind {
            Kind::Send => free.max(self.state.sending[(rank, u16::from(record.nic))]),
            Kind::Recv | Kind::Calc | Kind::Local | Kind::Dummy => free,
        }
    }

    fn start(&mut self, now: u64, action: u32) {
        let record = *self.state.workload.record(action);
        let rank = self.state.ranks[action as usize];
        let cpu = (rank, record.cpu);
        self.begin(action);
        let p = self.state.parameters;
        match record.kind {
            Kind::Calc | Kind::Local | Kind::Dummy => {
                self.state.observer.calc(action, now);
                self.state.cpu[cpu] = now.wrapping_add(record.nanos());
                self.end(action);
            }
            Kind::Send => {
                self.state.observer.send(action, now);
                let rest = record.size.wrapping_sub(1);
                let nic = (rank, u16::from(record.nic));
                self.state.cpu[cpu] = now
                    .wrapping_add(p.overhead)
                    .wrapping_add(rest.wrapping_mul(p.overhead_per_byte));
                self.state.sending[nic] =
                    now.wrapping_add(p.gap).wrapping_add(rest.wrapping_mul(p.gap_per_byte));
                self.insert(now.wrapping_add(p.overhead).wrapping_add(p.latency), action | MESSAGE);
                if record.size <= p.eager_bytes_max {
                    self.end(action);
                }
            }
            Kind::Recv => {
                let channel = self.state.channels.of(action);
                let message = if self.state.channels.has_wildcards[rank as usize] {
                    self.state.matching.take_message(rank, record.peer, record.tag)
                } else {
                    self.state.matching.pop(self.state.workload, channel, Kind::Send)
                };
                match message {
                    Some(send) => {
                        self.state.meet_at(now, send, action, true);
                        // The receive's size, processor and interface decide, also at the sender.
                        if record.size > p.eager_bytes_max {
                            self.release(send, now, record.cpu, record.nic);
                        }
                        self.end(action);
                    }
                    None => {
                        self.state.observer.wait(action, now);
                        if self.state.channels.has_wildcards[rank as usize] {
                            let (from, tag) = (record.peer, record.tag);
                            self.state.matching.keep_receive(rank, from, tag, action);
                        } else {
                            self.state.matching.push(channel, action);
                        }
                    }
                }
            }
        }
    }

    /// Takes a message in at its receiver, on the processor and interface that its send names.
    fn take(&mut self, now: u64, send: u32) {
        let record = *self.state.workload.record(send);
        let (to, from) = (record.peer, self.state.ranks[send as usize]);
        let (cpu, nic) = ((to, record.cpu), (to, u16::from(record.nic)));
        let p = self.state.parameters;
        let rest = record.size.wrapping_sub(1);
        let bytes = rest.wrapping_mul(p.overhead_per_byte).max(rest.wrapping_mul(p.gap_per_byte));
        self.state.cpu[cpu] = now.wrapping_add(p.overhead).wrapping_add(bytes);
        self.state.receiving[nic] =
            now.wrapping_add(p.gap).wrapping_add(rest.wrapping_mul(p.gap_per_byte));
        let channel = self.state.channels.of(send);
        let has_wildcards = self.state.channels.has_wildcards[to as usize];
        let receive = if has_wildcards {
            self.state.matching.take_receive(to, from, record.tag)
        } else {
            self.state.matching.pop(self.state.workload, channel, Kind::Recv)
        };
        match receive {
            Some(receive) => {
                self.state.meet_at(now, send, receive, false);
                if record.size > p.eager_bytes_max {
                    self.release(send, now, record.cpu, record.nic);
                }
                self.end(receive);
            }
            None => {
                self.state.observer.wait(send, now);
                if has_wildcards {
                    self.state.matching.keep_message(to, from, record.tag, send);
                } else {
                    self.state.matching.push(channel, send);
                }
            }
        }
    }

    /// Ends a send that waited for its receive, and holds its rank's processor and gap until now.
    fn release(&mut self, send: u32, now: u64, cpu: u16, nic: u8) {
        let rank = self.state.ranks[send as usize];
        let (cpu, nic) = ((rank, cpu), (rank, u16::from(nic)));
        self.state.cpu[cpu] = self.state.cpu[cpu].max(now);
        self.state.sending[nic] = self.state.sending[nic].max(now);
        self.end(send);
    }

    fn begin(&mut self, action: u32) {
        let workload = self.state.workload;
        for &waiter in workload.start_waiters(action) {
            self.meet(waiter);
        }
    }

    fn end(&mut self, action: u32) {
        // A send may end twice: when it starts, and if its receive states more bytes again.
        self.state.is_ended[action as usize] = true;
        let workload = self.state.workload;
        for &waiter in workload.waiters(action) {
            self.meet(waiter);
        }
    }

    fn meet(&mut self, waiter: u32) {
        if self.state.meet(waiter) {
            self.ready.push((self.state.ranks[waiter as usize], waiter));
        }
    }
}
