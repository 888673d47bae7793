//! The default model: LogGOPS, with an order of events that each rank decides alone.
//!
//! A rank has processors and network interfaces. Jobs need them: a computation its processor, a
//! send its processor and the sending side of its interface, a message the processor and the
//! receiving side that its receive names. A job starts as soon as all that it needs is free. Of
//! several that could start at one moment, the first is the one that was ready first, then an
//! action before a message, then by the order of the text and of the sources.
//!
//! The jobs of a rank depend on other ranks only through messages, which take at least `o + L`, and
//! through the ends of large sends, which take `L`. So ranks are simulated one by one for a window
//! of that length, and nothing depends on the order in which the ranks are taken.

mod hooks;
#[cfg(test)]
pub(crate) mod tests;

pub use hooks::{Cause, Held, Job, Message, Noise, Observer};

use crate::channels::NONE;
use crate::heaps::Heaps;
use crate::machine::Machine;
use crate::matching::Matching;
use crate::pairs::{Meeting, Pairs};
use crate::radix::RadixQueue;
use crate::workload::{Kind, Record, Workload};
use goal_lang::ANY;
use rustc_hash::FxHashMap;

/// The first time in picoseconds that is too late.
const TIME_END: u64 = 1 << 63;

/// The ranks or effects whose data are loaded together, so that the processor waits for memory once
/// for all of them.
const BATCH: usize = 16;

/// The times of a simulated program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Times {
    /// By rank, the time at which its last action has ended, in picoseconds.
    pub finish_ps: Vec<u64>,
    /// The actions that were started and the messages that were taken in.
    pub events: u64,
}

/// The reason why there are no times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Some actions never end, or messages are never received.
    #[error("{left} actions never end, and {unreceived} messages are never received")]
    Stuck {
        /// The actions that never end.
        left: u64,
        /// The messages that no receive takes.
        unreceived: u64,
    },
    /// A message and its receive have different sizes.
    #[error("a message and its receive have different sizes")]
    Unequal {
        /// The send of the message.
        send: u32,
        /// The receive.
        receive: u32,
    },
    /// A time has more than 63 bits.
    #[error("an action would end after 2^63 picoseconds, some 106 days")]
    TooLate {
        /// The action.
        action: u32,
    },
}

/// A queue of jobs that need one processor and one side of one interface.
#[derive(Debug, Clone, Copy)]
struct Class {
    /// The job that was ready first.
    head: u32,
    /// The place of the processor in `free`. [`NONE`] if the jobs need no processor.
    cpu: u32,
    /// The place of the interface's side in `free`. [`NONE`] if the jobs need no interface.
    side: u32,
    takes_messages: bool,
}

/// A rank: its classes and the earliest time at which one of its jobs can start.
#[derive(Debug, Clone, Copy)]
struct Line {
    first_class: u32,
    end_class: u32,
    /// `u64::MAX` without a job.
    wake: u64,
    /// The latest end of an action.
    finish: u64,
}

/// The effect of a rank on another one: a message, or the end of a send.
#[derive(Debug, Clone, Copy)]
struct Effect {
    rank: u32,
    /// The send of a message, or a send that ends.
    send: u32,
    time: u64,
    is_message: bool,
}

/// Simulates a program.
///
/// # Errors
/// If some actions never end, or a time is too large.
pub fn simulate(workload: &Workload, machine: &Machine) -> Result<Times, ModelError> {
    simulate_with(workload, machine, &(), &mut ())
}

/// Simulates a program with noise, and tells an observer what happens.
///
/// # Errors
/// As of [`simulate`].
pub fn simulate_with<N: Noise, O: Observer>(
    workload: &Workload,
    machine: &Machine,
    noise: &N,
    observer: &mut O,
) -> Result<Times, ModelError> {
    let mut simulation = Simulation::new(workload, *machine, noise, observer);
    simulation.run()?;
    simulation.finish()
}

struct Simulation<'w, N, O> {
    noise: &'w N,
    observer: &'w mut O,
    workload: &'w Workload,
    machine: Machine,
    heaps: Heaps,
    /// By action, the dependencies that are not met.
    missing: Vec<u32>,
    /// By action, true once a receive is posted or the message of a send is taken in.
    is_there: Vec<bool>,
    pairs: Pairs,
    wild: Matching,
    /// By receiver, source and tag, the first receive in the text that has them.
    wild_first: FxHashMap<(u32, u32, u32), u32>,
    /// By action, its class; for a receive, the class of its message.
    class_of: Vec<u32>,
    classes: Vec<Class>,
    /// By processor and side of an interface, the time at which it is free.
    free: Vec<u64>,
    lines: Vec<Line>,
    queue: RadixQueue,
    /// Windows have 2^shift picoseconds.
    shift: u32,
    effects: Vec<Effect>,
    /// Actions of the present rank whose dependencies are met.
    met: Vec<u32>,
    ended: u64,
    events: u64,
    unreceived: u64,
    fault: Option<ModelError>,
}

impl<'w, N: Noise, O: Observer> Simulation<'w, N, O> {
    fn new(workload: &'w Workload, machine: Machine, noise: &'w N, observer: &'w mut O) -> Self {
        let pairs = Pairs::new(workload);
        let ranks = workload.num_ranks();
        // The end of a large send takes `L` to be known.
        let lookahead = noise.latency_min(machine.latency_ps);
        let mut simulation = Self {
            noise,
            observer,
            workload,
            machine,
            heaps: Heaps::new(workload.len()),
            missing: (0..workload.len() as u32).map(|a| workload.record(a).missing).collect(),
            is_there: vec![false; workload.len()],
            wild: Matching::for_wildcards(workload, &pairs.has_wildcards),
            pairs,
            wild_first: FxHashMap::default(),
            class_of: vec![NONE; workload.len()],
            classes: Vec::with_capacity(3 * ranks),
            free: Vec::with_capacity(3 * ranks),
            lines: Vec::with_capacity(ranks),
            queue: RadixQueue::new(),
            shift: lookahead.checked_ilog2().unwrap_or(0),
            effects: Vec::new(),
            met: Vec::new(),
            ended: 0,
            events: 0,
            unreceived: 0,
            fault: None,
        };
        let mut places = Default::default();
        for rank in 0..ranks as u32 {
            simulation.add_rank(rank, &mut places);
        }
        simulation
    }

    /// Finds the classes of a rank's actions. `places` has by number of a processor or of a side of
    /// an interface the last rank that names it, and its place in `free`.
    fn add_rank(&mut self, rank: u32, places: &mut [Vec<(u32, u32)>; 3]) {
        let first_class = self.classes.len() as u32;
        for action in self.workload.actions(rank) {
            let record = *self.workload.record(action);
            let is_wild = self.pairs.has_wildcards[rank as usize];
            if record.kind == Kind::Recv && is_wild {
                self.wild_first.entry((rank, record.peer, record.tag)).or_insert(action);
            }
            if record.kind == Kind::Dummy {
                continue;
            }
            let mut place = |which: usize, number: usize| {
                let places = &mut places[which];
                if places.len() <= number {
                    places.resize(number + 1, (NONE, NONE));
                }
                if places[number].0 != rank {
                    places[number] = (rank, self.free.len() as u32);
                    self.free.push(0);
                }
                places[number].1
            };
            let cpu = place(0, usize::from(record.cpu));
            let side = match record.kind {
                Kind::Send => place(1, usize::from(record.nic)),
                Kind::Recv => place(2, usize::from(record.nic)),
                Kind::Calc | Kind::Local | Kind::Dummy => NONE,
            };
            let takes_messages = record.kind == Kind::Recv;
            self.class_of[action as usize] =
                self.class(first_class, Class { head: NONE, cpu, side, takes_messages });
            if takes_messages && self.pairs.meetings[action as usize] != Meeting::Known {
                let posts = Class { head: NONE, cpu: NONE, side: NONE, takes_messages: false };
                self.class(first_class, posts);
            }
        }
        self.lines.push(Line {
            first_class,
            end_class: self.classes.len() as u32,
            wake: u64::MAX,
            finish: 0,
        });
    }

    /// Returns the number of a class of the rank whose classes begin at `first`.
    fn class(&mut self, first: u32, class: Class) -> u32 {
        let key = |class: &Class| (class.cpu, class.side, class.takes_messages);
        let known =
            self.classes[first as usize..].iter().position(|known| key(known) == key(&class));
        let at = first as usize + known.unwrap_or(self.classes.len() - first as usize);
        if known.is_none() {
            self.classes.push(class);
        }
        at as u32
    }

    fn run(&mut self) -> Result<(), ModelError> {
        for rank in 0..self.workload.num_ranks() as u32 {
            self.met.extend(self.workload.roots(rank).iter().rev());
            self.activate_met(rank);
            self.settle(rank);
        }
        let mut ranks = Vec::new();
        while let Some(window) = self.queue.take(&mut ranks) {
            let end = (window + 1) << self.shift;
            for batch in ranks.chunks(BATCH) {
                self.load_ranks(batch);
                for &rank in batch {
                    if self.lines[rank as usize].wake < end {
                        self.simulate_rank(rank, end);
                    }
                }
            }
            ranks.clear();
            self.apply_effects();
            if let Some(fault) = self.fault {
                return Err(fault);
            }
        }
        Ok(())
    }

    /// Starts the jobs of a rank that can start before `end`.
    fn simulate_rank(&mut self, rank: u32, end: u64) {
        let mut next = self.first_job(rank);
        while let Some((now, class)) = next.filter(|&(now, _)| now < end) {
            self.start(rank, class, now);
            self.activate_met(rank);
            next = self.first_job(rank);
        }
        self.lines[rank as usize].wake = u64::MAX;
        if let Some((start, class)) = next {
            self.wake(rank, start, class);
        }
    }

    /// Returns the time and the class of the rank's next job.
    fn first_job(&self, rank: u32) -> Option<(u64, u32)> {
        let line = &self.lines[rank as usize];
        let mut first: Option<((u64, u64, bool, u32), u32)> = None;
        for at in line.first_class..line.end_class {
            let class = &self.classes[at as usize];
            if class.head == NONE {
                continue;
            }
            let (start, ready) = self.start_of(class);
            let key = (start, ready, class.takes_messages, class.head);
            if first.is_none_or(|(known, _)| key < known) {
                first = Some((key, at));
            }
        }
        first.map(|((start, ..), class)| (start, class))
    }

    /// Returns the time at which the first job of a class can start, and the time at which it was
    /// ready.
    fn start_of(&self, class: &Class) -> (u64, u64) {
        let ready = self.heaps.time(class.head);
        let mut start = ready;
        if class.cpu != NONE {
            start = start.max(self.free[class.cpu as usize]);
        }
        if class.side != NONE {
            start = start.max(self.free[class.side as usize]);
        }
        (start, ready)
    }

    /// Puts a rank in the queue if it has a job to start earlier than the queue knows.
    fn settle(&mut self, rank: u32) {
        if let Some((start, class)) = self.first_job(rank) {
            self.wake(rank, start, class);
        }
    }

    /// Puts a rank in the queue if `start` is earlier than the queue knows.
    fn wake(&mut self, rank: u32, start: u64, class: u32) {
        let line = &mut self.lines[rank as usize];
        if start >= TIME_END {
            self.fault = Some(ModelError::TooLate { action: self.classes[class as usize].head });
        } else if start < line.wake {
            line.wake = start;
            self.queue.push(start >> self.shift, rank);
        }
    }

    fn start(&mut self, rank: u32, class: u32, now: u64) {
        let Class { head: job, cpu, side, takes_messages } = self.classes[class as usize];
        self.classes[class as usize].head = self.heaps.pop(job);
        self.events += 1;
        let record = *self.workload.record(job);
        let ready = self.heaps.time(job);
        if takes_messages {
            let [cpu_end, side_end] = self.taken(rank, job, now);
            self.hold(rank, job, true, [ready, now], [(cpu, cpu_end), (side, side_end)]);
            return self.take(rank, job, &record, now);
        }
        match record.kind {
            Kind::Calc | Kind::Local => {
                let work = self.noise.computation(rank, job, record.picos());
                let end = self.noise.end_of_work(rank, now, work);
                self.hold(rank, job, false, [ready, now], [(cpu, end), (NONE, 0)]);
                self.begin(job, now);
                self.end(rank, job, end);
            }
            Kind::Send => {
                let rest = record.size.max(1) - 1;
                let message = Message { send: job, from: rank, to: record.peer };
                let overhead = self.noise.overhead(rank, job, self.machine.overhead_ps);
                let work = overhead.saturating_add(self.machine.overhead_per_byte.of(rest));
                let end = self.noise.end_of_work(rank, now, work);
                let side_end =
                    (now + self.machine.gap_ps).saturating_add(self.machine.gap_per_byte.of(rest));
                self.hold(rank, job, false, [ready, now], [(cpu, end), (side, side_end)]);
                self.begin(job, now);
                if self.pairs.meetings[job as usize] == Meeting::InOrder {
                    self.pairs.start_send(job);
                }
                let left = self.noise.end_of_work(rank, now, overhead);
                let latency = self.noise.latency(message, self.machine.latency_ps);
                let time = left.saturating_add(latency);
                self.effects.push(Effect { rank: record.peer, send: job, time, is_message: true });
                if record.size <= self.machine.eager_bytes_max {
                    self.end(rank, job, end);
                }
            }
            Kind::Recv => {
                self.begin(job, now);
                self.is_there[job as usize] = true;
                self.heaps.set_time(job, now);
                let send = if self.pairs.meetings[job as usize] == Meeting::Wild {
                    let send = self.wild.take_message(rank, record.peer, record.tag);
                    if send.is_none() {
                        self.wild.keep_receive(rank, record.peer, record.tag, job);
                    }
                    send
                } else {
                    self.meet_in_slot(job, true)
                };
                if let Some(send) = send {
                    self.complete(rank, job, send);
                }
            }
            Kind::Dummy => unreachable!("a dummy is no job"),
        }
    }

    /// Returns the times at which the processor and the interface are free with which a rank takes
    /// the message of a send at `now`.
    fn taken(&self, rank: u32, send: u32, now: u64) -> [u64; 2] {
        let record = self.workload.record(send);
        let rest = record.size.max(1) - 1;
        let Machine { overhead_ps, gap_ps, gap_per_byte, overhead_per_byte, .. } = self.machine;
        let wire = gap_per_byte.of(rest);
        let work = self
            .noise
            .overhead(rank, send, overhead_ps)
            .saturating_add(wire.max(overhead_per_byte.of(rest)));
        [self.noise.end_of_work(rank, now, work), (now + gap_ps).saturating_add(wire)]
    }

    /// Holds a processor and the side of an interface for a job, each until its time.
    fn hold(
        &mut self,
        rank: u32,
        action: u32,
        is_message: bool,
        [ready, start]: [u64; 2],
        held: [(u32, u64); 2],
    ) {
        let [cpu, side] = held.map(|(place, end)| {
            (place != NONE).then(|| {
                self.free[place as usize] = end;
                Held { place, end }
            })
        });
        self.observer.start(Job { rank, action, is_message, ready, start, cpu, side });
    }

    /// Puts a receive or a message into its slot. Returns what waits there for it.
    fn meet_in_slot(&mut self, action: u32, is_receive: bool) -> Option<u32> {
        if self.pairs.meetings[action as usize] == Meeting::Never {
            return None;
        }
        if is_receive {
            self.pairs.post(action);
        }
        let slot = &mut self.pairs.waiting[self.pairs.partners[action as usize] as usize];
        if *slot == NONE {
            *slot = action;
            return None;
        }
        Some(*slot)
    }

    /// Takes the message of a send in.
    fn take(&mut self, rank: u32, send: u32, record: &Record, now: u64) {
        self.is_there[send as usize] = true;
        self.heaps.set_time(send, now);
        let receive = match self.pairs.meetings[send as usize] {
            Meeting::Known => {
                let receive = self.pairs.partners[send as usize];
                Some(receive).filter(|&receive| self.is_there[receive as usize])
            }
            Meeting::InOrder => self.meet_in_slot(send, false),
            Meeting::Wild => {
                let from = self.workload.rank_of(send);
                let receive = self.wild.take_receive(rank, from, record.tag);
                if receive.is_none() {
                    self.wild.keep_message(rank, from, record.tag, send);
                }
                receive
            }
            Meeting::Never => None,
        };
        if let Some(receive) = receive {
            self.complete(rank, receive, send);
        }
    }

    /// Ends a receive when its message was taken in. Also ends the send if it is a large one.
    fn complete(&mut self, rank: u32, receive: u32, send: u32) {
        let (posted, taken) = (self.heaps.time(receive), self.heaps.time(send));
        let record = *self.workload.record(send);
        if record.size != self.workload.record(receive).size {
            self.fault = Some(ModelError::Unequal { send, receive });
        }
        let [end, _] = self.taken(rank, send, taken);
        let end = end.max(posted);
        self.observer.receive(receive, send, posted, taken, end);
        self.end(rank, receive, end);
        if record.size > self.machine.eager_bytes_max {
            let from = match self.workload.record(receive).peer {
                ANY => self.workload.rank_of(send),
                from => from,
            };
            let message = Message { send, from, to: rank };
            let latency = self.noise.latency(message, self.machine.latency_ps);
            let time = taken.max(posted).saturating_add(latency);
            self.effects.push(Effect { rank: from, send, time, is_message: false });
        }
    }

    /// Reads what [`simulate_rank`](Self::simulate_rank) needs of some ranks, one kind after the
    /// other: reads that don't depend on each other overlap.
    fn load_ranks(&self, ranks: &[u32]) {
        let mut read = 0_u64;
        for &rank in ranks {
            read = self.lines[rank as usize].wake.wrapping_add(read);
        }
        for &rank in ranks {
            let first = self.lines[rank as usize].first_class as usize;
            if let Some(class) = self.classes.get(first) {
                read = read.wrapping_add(u64::from(class.head));
            }
            if let Some(&free) = self.free.get(first) {
                read = read.wrapping_add(free);
            }
        }
        for &rank in ranks {
            let line = &self.lines[rank as usize];
            for class in &self.classes[line.first_class as usize..line.end_class as usize] {
                if class.head != NONE {
                    let size = self.workload.record(class.head).size;
                    read = read.wrapping_add(self.heaps.time(class.head) ^ size);
                }
            }
        }
        std::hint::black_box(read);
    }

    /// Reads what effects need, as [`load_ranks`](Self::load_ranks) does.
    fn load_effects(&self, effects: &[Effect]) {
        let mut read = 0_u32;
        for effect in effects {
            read ^= self.pairs.partners[effect.send as usize];
            read ^= self.lines[effect.rank as usize].first_class;
        }
        for effect in effects {
            let partner = self.pairs.partners[effect.send as usize] as usize;
            read ^= self.class_of.get(partner).copied().unwrap_or_default();
            let first = self.lines[effect.rank as usize].first_class as usize;
            read ^= self.classes.get(first).map_or(0, |class| class.head);
        }
        std::hint::black_box(read);
    }

    /// Applies what ranks have done to others in a window. No effect is earlier than the end of the
    /// window, or all ranks of this moment are looked at again.
    fn apply_effects(&mut self) {
        let mut next = 0;
        // An effect may have further ones.
        while let Some(&Effect { rank, send, time, is_message }) = self.effects.get(next) {
            if next % BATCH == 0 {
                let end = self.effects.len().min(next + BATCH);
                self.load_effects(&self.effects[next..end]);
            }
            next += 1;
            if is_message {
                self.arrive(rank, send, time);
            } else {
                self.end(rank, send, time);
                self.activate_met(rank);
                self.settle(rank);
            }
        }
        self.effects.clear();
    }

    /// Puts a message into the class of the receive that it is meant for.
    fn arrive(&mut self, rank: u32, send: u32, time: u64) {
        let receive = match self.pairs.meetings[send as usize] {
            Meeting::Known => self.pairs.partners[send as usize],
            Meeting::InOrder => self.pairs.expected[self.pairs.partners[send as usize] as usize],
            Meeting::Wild => {
                let (from, tag) = (self.workload.rank_of(send), self.workload.record(send).tag);
                [(from, tag), (from, ANY), (ANY, tag), (ANY, ANY)]
                    .iter()
                    .filter_map(|&(from, tag)| self.wild_first.get(&(rank, from, tag)).copied())
                    .min()
                    .unwrap_or(NONE)
            }
            Meeting::Never => NONE,
        };
        if receive == NONE {
            self.unreceived += 1;
            return;
        }
        let class = self.class_of[receive as usize];
        self.push(class, send, time);
        let (start, _) = self.start_of(&self.classes[class as usize]);
        self.wake(rank, start, class);
    }

    fn push(&mut self, class: u32, job: u32, time: u64) {
        self.heaps.set_time(job, time);
        let class = &mut self.classes[class as usize];
        class.head = self.heaps.push(class.head, job);
    }

    /// Starts an action. What waits for its start is ready at `time`.
    fn begin(&mut self, action: u32, time: u64) {
        let workload = self.workload;
        for &waiter in workload.start_waiters(action) {
            self.meet(waiter, Cause::Start(action), time);
        }
    }

    fn end(&mut self, rank: u32, action: u32, time: u64) {
        self.ended += 1;
        let line = &mut self.lines[rank as usize];
        line.finish = line.finish.max(time);
        if time >= TIME_END {
            self.fault = Some(ModelError::TooLate { action });
        }
        let workload = self.workload;
        self.observer.end(rank, action, time);
        for &waiter in workload.waiters(action) {
            self.meet(waiter, Cause::End(action), time);
        }
    }

    fn meet(&mut self, waiter: u32, cause: Cause, time: u64) {
        if time >= self.heaps.time(waiter) {
            self.heaps.set_time(waiter, time);
            self.observer.delay(waiter, cause, time);
        }
        self.missing[waiter as usize] -= 1;
        if self.missing[waiter as usize] == 0 {
            self.met.push(waiter);
        }
    }

    /// Makes jobs of the rank's actions whose dependencies are met, and ends those that need
    /// nothing more.
    fn activate_met(&mut self, rank: u32) {
        while let Some(action) = self.met.pop() {
            let time = self.heaps.time(action);
            match self.workload.record(action).kind {
                Kind::Dummy => {
                    self.events += 1;
                    self.begin(action, time);
                    self.end(rank, action, time);
                }
                Kind::Recv if self.pairs.meetings[action as usize] == Meeting::Known => {
                    self.events += 1;
                    self.is_there[action as usize] = true;
                    self.begin(action, time);
                    let send = self.pairs.partners[action as usize];
                    if self.is_there[send as usize] {
                        self.complete(rank, action, send);
                    }
                }
                Kind::Recv => {
                    let class = self.posts(rank);
                    self.push(class, action, time);
                }
                Kind::Send | Kind::Calc | Kind::Local => {
                    self.push(self.class_of[action as usize], action, time)
                }
            }
        }
    }

    /// Returns the class of the rank's receives that are to be posted.
    fn posts(&self, rank: u32) -> u32 {
        let line = &self.lines[rank as usize];
        (line.first_class..line.end_class)
            .find(|&class| self.classes[class as usize].cpu == NONE)
            .expect("the class was made with the receive")
    }

    fn finish(self) -> Result<Times, ModelError> {
        let left = self.workload.len() as u64 - self.ended;
        let unreceived = self.unreceived + self.wild.num_waiting();
        if left + unreceived > 0 {
            return Err(ModelError::Stuck { left, unreceived });
        }
        let finish_ps = self.lines.iter().map(|line| line.finish).collect();
        Ok(Times { finish_ps, events: self.events })
    }
}
