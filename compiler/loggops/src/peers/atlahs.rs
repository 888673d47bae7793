//! The model of the simulator in ATLAHS (spcl/atlahs, `sim/LogGOPSim`), to the nanosecond.
//!
//! Events are taken in the order of time. Those of one time leave the binary heap of GNU's C++
//! library in whatever order it has them, so that heap is part of the model. A receive takes a
//! message of exactly its source and tag; wildcards never match. If a receive's processor is busy
//! when its message arrives, the receive goes behind the others of its kind.

use super::busy::Busy;
use super::stdcxx::{pop_heap, push_heap};
use super::{Abort, Outcome, Pair, Parameters};
use crate::channels::Channels;
use crate::matching::Matching;
use crate::workload::{Kind, Workload};

/// Set in the number of an event for the message of a send.
const MESSAGE: u32 = 1 << 31;

/// Simulates a program as ATLAHS does. Times are unsigned and wrap as ATLAHS's do.
///
/// # Errors
/// Where ATLAHS aborts: a receive that starts before its message has arrived finds it in the queue
/// of unexpected messages.
pub fn simulate(workload: &Workload, parameters: &Parameters) -> Result<Outcome, Abort> {
    let mut simulation = Simulation::new(workload, *parameters);
    simulation.run()?;
    Ok(simulation.finish())
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
    /// By action, the latest end of the dependencies that it waits for the end of.
    after: Vec<u64>,
    /// By send, the time at which its message came to the queue of unexpected messages.
    came: Vec<u64>,
    /// When each processor and both sides of each interface are free.
    cpu: Busy,
    sending: Busy,
    receiving: Busy,
    /// Time and event; the least time comes first.
    events: Vec<(u64, u32)>,
    numbered: u64,
    /// The actions that the present event made ready: rank, action and time.
    ready: Vec<(u32, u32, u64)>,
    /// The ranks that the event of this moment has changed, in the order in which they were noted.
    changed: Vec<u32>,
    is_ended: Vec<bool>,
    unequal: Option<Pair>,
}

/// The order of the heap: the greatest event is the earliest.
fn is_later(a: &(u64, u32), b: &(u64, u32)) -> bool {
    a.0 > b.0
}

impl<'w> Simulation<'w> {
    fn new(workload: &'w Workload, parameters: Parameters) -> Self {
        let channels = Channels::exact(workload);
        let ranks = workload.num_ranks();
        Self {
            matching: Matching::new(workload, &channels),
            channels,
            ranks: (0..ranks as u32)
                .flat_map(|rank| workload.actions(rank).map(move |_| rank))
                .collect(),
            missing: (0..workload.len() as u32).map(|a| workload.record(a).missing).collect(),
            after: vec![0; workload.len()],
            came: vec![0; workload.len()],
            cpu: Busy::new(workload, workload.cpus),
            sending: Busy::new(workload, workload.nics),
            receiving: Busy::new(workload, workload.nics),
            events: Vec::new(),
            numbered: 0,
            ready: Vec::new(),
            changed: Vec::new(),
            is_ended: vec![false; workload.len()],
            unequal: None,
            workload,
            parameters,
        }
    }

    fn run(&mut self) -> Result<(), Abort> {
        let workload = self.workload;
        for rank in 0..workload.num_ranks() as u32 {
            for &root in workload.roots(rank) {
                self.insert(0, root);
            }
        }
        while let Some((time, event)) = pop_heap(&mut self.events, is_later) {
            match event & MESSAGE {
                0 => self.start(time, event)?,
                _ => self.take(time, event & !MESSAGE),
            }
            self.enter();
        }
        Ok(())
    }

    /// Adds the events of what became ready: those of the rank that was noted last come first.
    fn enter(&mut self) {
        for rank in std::mem::take(&mut self.changed).into_iter().rev() {
            let ready = std::mem::take(&mut self.ready);
            for &(_, action, after) in ready.iter().filter(|ready| ready.0 == rank) {
                let record = self.workload.record(action);
                let time = match record.kind {
                    Kind::Calc | Kind::Local | Kind::Dummy => {
                        after.max(self.cpu[(rank, record.cpu)])
                    }
                    Kind::Send => after.max(self.sending[(rank, u16::from(record.nic))]),
                    Kind::Recv => after,
                };
                self.insert(time, action);
            }
            self.ready = ready;
        }
        self.ready.clear();
    }

    fn insert(&mut self, time: u64, event: u32) {
        push_heap(&mut self.events, (time, event), is_later);
        self.numbered += 1;
    }

    fn insert_again(&mut self, time: u64, event: u32) {
        push_heap(&mut self.events, (time, event), is_later);
    }

    fn note(&mut self, rank: u32) {
        if !self.changed.contains(&rank) {
            self.changed.push(rank);
        }
    }

    fn start(&mut self, now: u64, action: u32) -> Result<(), Abort> {
        let record = *self.workload.record(action);
        let rank = self.ranks[action as usize];
        let (cpu, nic) = ((rank, record.cpu), (rank, u16::from(record.nic)));
        let p = self.parameters;
        match record.kind {
            Kind::Calc | Kind::Local | Kind::Dummy => {
                if self.cpu[cpu] > now {
                    self.insert_again(self.cpu[cpu], action);
                    return Ok(());
                }
                let end = now.wrapping_add(record.nanos());
                self.cpu[cpu] = end;
                self.begin(action);
                self.end(action, end);
            }
            Kind::Send => {
                let free = self.cpu[cpu].max(self.sending[nic]);
                if free > now {
                    self.insert_again(free, action);
                    return Ok(());
                }
                self.begin(action);
                let rest = record.size.max(1) - 1;
                let end = now
                    .wrapping_add(p.overhead)
                    .wrapping_add(rest.wrapping_mul(p.overhead_per_byte));
                self.cpu[cpu] = end;
                let bytes = self.bytes_ns(rest);
                self.sending[nic] = now.wrapping_add(p.gap).wrapping_add(bytes);
                self.insert(end.wrapping_add(p.latency).wrapping_add(bytes), action | MESSAGE);
                if record.size.max(1) <= p.eager_bytes_max {
                    self.end(action, end);
                }
            }
            Kind::Recv => {
                self.begin(action);
                let channel = self.channels.of(action);
                let Some(send) = self.matching.pop(self.workload, channel, Kind::Send) else {
                    self.matching.push(channel, action);
                    return Ok(());
                };
                if now < self.came[send as usize] {
                    return Err(Abort(Pair { send, receive: action }));
                }
                self.compare(send, action);
                let nic_end = self.sending[nic].max(now).wrapping_add(p.gap);
                let rest = record.size.max(1) - 1;
                let end = nic_end
                    .wrapping_add(p.overhead)
                    .wrapping_add(rest.wrapping_mul(p.overhead_per_byte));
                self.cpu[cpu] = end;
                self.receiving[nic] = nic_end;
                if record.size.max(1) > p.eager_bytes_max {
                    self.release(send, record.cpu, record.nic, end, nic_end);
                }
                self.end(action, end);
            }
        }
        Ok(())
    }

    /// Returns `G` times the bytes, rounded down as a conversion from `double` does.
    fn bytes_ns(&self, rest: u64) -> u64 {
        (rest as f64 * self.parameters.gap_per_byte_ns) as u64
    }

    /// Takes a message in if its receive was posted and the receive's processor is free.
    fn take(&mut self, now: u64, send: u32) {
        let record = *self.workload.record(send);
        let (to, size) = (record.peer, record.size.max(1));
        let channel = self.channels.of(send);
        let Some(receive) = self.matching.pop(self.workload, channel, Kind::Recv) else {
            self.came[send as usize] = now;
            self.matching.push(channel, send);
            return;
        };
        let cpu = (to, self.workload.record(receive).cpu);
        let nic = (to, u16::from(record.nic));
        let free = self.cpu[cpu].max(self.receiving[nic]);
        if free > now {
            self.insert_again(free, send | MESSAGE);
            self.matching.push(channel, receive);
            return;
        }
        self.compare(send, receive);
        let p = self.parameters;
        let nic_end = now.wrapping_add(p.gap);
        let end = nic_end
            .wrapping_add(p.overhead)
            .wrapping_add((size - 1).wrapping_mul(p.overhead_per_byte));
        self.cpu[cpu] = end;
        self.receiving[nic] = nic_end;
        if size > p.eager_bytes_max {
            self.release(send, record.cpu, record.nic, end, nic_end);
        }
        self.end(receive, end);
    }

    /// Ends a send that waited for its receive, and holds its rank's processor and gap until the
    /// message was taken in.
    fn release(&mut self, send: u32, cpu: u16, nic: u8, end: u64, nic_end: u64) {
        let rank = self.ranks[send as usize];
        let (cpu, nic) = ((rank, cpu), (rank, u16::from(nic)));
        self.end(send, end);
        self.cpu[cpu] = self.cpu[cpu].max(end);
        self.sending[nic] = self.sending[nic].max(nic_end);
    }

    fn compare(&mut self, send: u32, receive: u32) {
        if self.workload.record(send).size != self.workload.record(receive).size {
            self.unequal.get_or_insert(Pair { send, receive });
        }
    }

    /// Starts an action. What waits for a start is ready at time 0.
    fn begin(&mut self, action: u32) {
        let workload = self.workload;
        self.note(self.ranks[action as usize]);
        for &waiter in workload.start_waiters(action) {
            self.meet(waiter, 0);
        }
    }

    fn end(&mut self, action: u32, time: u64) {
        self.is_ended[action as usize] = true;
        let workload = self.workload;
        self.note(self.ranks[action as usize]);
        for &waiter in workload.waiters(action) {
            let after = &mut self.after[waiter as usize];
            *after = (*after).max(time);
            let after = *after;
            self.meet(waiter, after);
        }
    }

    fn meet(&mut self, waiter: u32, after: u64) {
        let missing = &mut self.missing[waiter as usize];
        *missing = missing.wrapping_sub(1);
        if *missing == 0 {
            self.ready.push((self.ranks[waiter as usize], waiter, after));
        }
    }

    fn finish(self) -> Outcome {
        let left = self.is_ended.iter().filter(|&&is_ended| !is_ended).count() as u64;
        Outcome {
            finish_ns: self.cpu.latest(),
            events: self.numbered,
            left,
            waiting: self.matching.num_waiting(),
            unequal: self.unequal,
        }
    }
}
