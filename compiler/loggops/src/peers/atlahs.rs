//! The model of the simulator in ATLAHS (spcl/atlahs, `sim/LogGOPSim`), to the nanosecond.
//!
//! Events are taken in the order of time. Those of one time leave the binary heap of GNU's C++
//! library in whatever order it has them, so that heap is part of the model. A receive takes a
//! message of exactly its source and tag; wildcards never match. If a receive's processor is busy
//! when its message arrives, the receive goes behind the others of its kind.

use super::state::{MESSAGE, State};
use super::stdcxx::{pop_heap, push_heap};
use super::{Abort, Observer, Outcome, Pair, Parameters};
use crate::channels::Channels;
use crate::workload::{Kind, Workload};

/// Simulates a program as ATLAHS does, and shows it to an observer. Times are unsigned and wrap as
/// ATLAHS's do.
///
/// # Errors
/// Where ATLAHS aborts: a receive that starts before its message has arrived finds it in the queue
/// of unexpected messages.
pub fn simulate(
    workload: &Workload,
    parameters: &Parameters,
    observer: &mut impl Observer,
) -> Result<Outcome, Abort> {
    let state = State::new(workload, *parameters, Channels::exact(workload), observer);
    let mut simulation = Simulation {
        state,
        after: vec![0; workload.len()],
        came: vec![0; workload.len()],
        events: Vec::new(),
        numbered: 0,
        ready: Vec::new(),
        changed: Vec::new(),
    };
    simulation.run()?;
    Ok(simulation.state.finish(simulation.numbered))
}

struct Simulation<'w, O> {
    state: State<'w, O>,
    /// By action, the latest end of the dependencies that it waits for the end of.
    after: Vec<u64>,
    /// By send, the time at which its message came to the queue of unexpected messages.
    came: Vec<u64>,
    /// Time and event; the least time comes first.
    events: Vec<(u64, u32)>,
    numbered: u64,
    /// The actions that the present event made ready: rank, action and time.
    ready: Vec<(u32, u32, u64)>,
    /// The ranks that the event of this moment has changed, in the order in which they were noted.
    changed: Vec<u32>,
}

/// The order of the heap: the greatest event is the earliest.
fn is_later(a: &(u64, u32), b: &(u64, u32)) -> bool {
    a.0 > b.0
}

impl<O: Observer> Simulation<'_, O> {
    fn run(&mut self) -> Result<(), Abort> {
        let workload = self.state.workload;
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
            self.state.observer.step(self.events.len(), self.numbered);
        }
        Ok(())
    }

    /// Adds the events of what became ready: those of the rank that was noted last come first.
    fn enter(&mut self) {
        for rank in std::mem::take(&mut self.changed).into_iter().rev() {
            let ready = std::mem::take(&mut self.ready);
            for &(_, action, after) in ready.iter().filter(|ready| ready.0 == rank) {
                let record = self.state.workload.record(action);
                let time = match record.kind {
                    Kind::Calc | Kind::Local | Kind::Dummy => {
                        after.max(self.state.cpu[(rank, record.cpu)])
                    }
                    Kind::Send => after.max(self.state.sending[(rank, u16::from(record.nic))]),
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
        self.state.observer.retry(event & !MESSAGE);
        push_heap(&mut self.events, (time, event), is_later);
    }

    fn note(&mut self, rank: u32) {
        if !self.changed.contains(&rank) {
            self.changed.push(rank);
        }
    }

    fn start(&mut self, now: u64, action: u32) -> Result<(), Abort> {
        let record = *self.state.workload.record(action);
        let rank = self.state.ranks[action as usize];
        let (cpu, nic) = ((rank, record.cpu), (rank, u16::from(record.nic)));
        let p = self.state.parameters;
        match record.kind {
            Kind::Calc | Kind::Local | Kind::Dummy => {
                if self.state.cpu[cpu] > now {
                    self.insert_again(self.state.cpu[cpu], action);
                    return Ok(());
                }
                self.state.observer.calc(action, now);
                let end = now.wrapping_add(record.nanos());
                self.state.cpu[cpu] = end;
                self.begin(action);
                self.end(action, end);
            }
            Kind::Send => {
                let free = self.state.cpu[cpu].max(self.state.sending[nic]);
                if free > now {
                    self.insert_again(free, action);
                    return Ok(());
                }
                self.begin(action);
                self.state.observer.send(action, now);
                let rest = record.size.max(1) - 1;
                let end = now
                    .wrapping_add(p.overhead)
                    .wrapping_add(rest.wrapping_mul(p.overhead_per_byte));
                self.state.cpu[cpu] = end;
                let bytes = p.wire_ns(rest);
                self.state.sending[nic] = now.wrapping_add(p.gap).wrapping_add(bytes);
                self.insert(end.wrapping_add(p.latency).wrapping_add(bytes), action | MESSAGE);
                if record.size.max(1) <= p.eager_bytes_max {
                    self.end(action, end);
                }
            }
            Kind::Recv => {
                self.begin(action);
                let channel = self.state.channels.of(action);
                let Some(send) = self.state.matching.pop(self.state.workload, channel, Kind::Send)
                else {
                    self.state.observer.wait(action, now);
                    self.state.matching.push(channel, action);
                    return Ok(());
                };
                if now < self.came[send as usize] {
                    return Err(Abort(Pair { send, receive: action }));
                }
                self.state.meet_at(now, send, action, true);
                let nic_end = self.state.sending[nic].max(now).wrapping_add(p.gap);
                let rest = record.size.max(1) - 1;
                let end = nic_end
                    .wrapping_add(p.overhead)
                    .wrapping_add(rest.wrapping_mul(p.overhead_per_byte));
                self.state.cpu[cpu] = end;
                self.state.receiving[nic] = nic_end;
                if record.size.max(1) > p.eager_bytes_max {
                    self.release(send, record.cpu, record.nic, end, nic_end);
                }
                self.end(action, end);
            }
        }
        Ok(())
    }

    /// Takes a message in if its receive was posted and the receive's processor is free.
    fn take(&mut self, now: u64, send: u32) {
        let record = *self.state.workload.record(send);
        let (to, size) = (record.peer, record.size.max(1));
        let channel = self.state.channels.of(send);
        let Some(receive) = self.state.matching.pop(self.state.workload, channel, Kind::Recv)
        else {
            self.came[send as usize] = now;
            self.state.observer.wait(send, now);
            self.state.matching.push(channel, send);
            return;
        };
        let cpu = (to, self.state.workload.record(receive).cpu);
        let nic = (to, u16::from(record.nic));
        let free = self.state.cpu[cpu].max(self.state.receiving[nic]);
        if free > now {
            self.insert_again(free, send | MESSAGE);
            self.state.matching.push(channel, receive);
            return;
        }
        self.state.meet_at(now, send, receive, false);
        let p = self.state.parameters;
        let nic_end = now.wrapping_add(p.gap);
        let end = nic_end
            .wrapping_add(p.overhead)
            .wrapping_add((size - 1).wrapping_mul(p.overhead_per_byte));
        self.state.cpu[cpu] = end;
        self.state.receiving[nic] = nic_end;
        if size > p.eager_bytes_max {
            self.release(send, record.cpu, record.nic, end, nic_end);
        }
        self.end(receive, end);
    }

    /// Ends a send that waited for its receive, and holds its rank's processor and gap until the
    /// message was taken in.
    fn release(&mut self, send: u32, cpu: u16, nic: u8, end: u64, nic_end: u64) {
        let rank = self.state.ranks[send as usize];
        let (cpu, nic) = ((rank, cpu), (rank, u16::from(nic)));
        self.end(send, end);
        self.state.cpu[cpu] = self.state.cpu[cpu].max(end);
        self.state.sending[nic] = self.state.sending[nic].max(nic_end);
    }

    /// Starts an action. What waits for a start is ready at time 0.
    fn begin(&mut self, action: u32) {
        let workload = self.state.workload;
        self.note(self.state.ranks[action as usize]);
        for &waiter in workload.start_waiters(action) {
            self.meet(waiter, 0);
        }
    }

    fn end(&mut self, action: u32, time: u64) {
        self.state.is_ended[action as usize] = true;
        let workload = self.state.workload;
        self.note(self.state.ranks[action as usize]);
        for &waiter in workload.waiters(action) {
            let after = &mut self.after[waiter as usize];
            *after = (*after).max(time);
            let after = *after;
            self.meet(waiter, after);
        }
    }

    fn meet(&mut self, waiter: u32, after: u64) {
        if self.state.meet(waiter) {
            self.ready.push((self.state.ranks[waiter as usize], waiter, after));
        }
    }
}
