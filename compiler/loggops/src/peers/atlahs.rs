//! The model of the simulator in ATLAHS (spcl/atlahs, `sim/LogGOPSim`), to the nanosecond.
//!
//! Events are taken in the order of time. Those of one time leave the binary heap of GNU's C++
//! library in whatever order it has them, so that heap is part of the model. A receive takes a
//! message of exactly its source and tag; wildcards never match. If a receive's processor is busy
//! when its message arrives, the receive goes behind the others of its kind.

use super::jobs::Job;
use super::state::{MESSAGE, State};
use super::stdcxx::{pop_heap, push_heap};
use super::{Abort, Observer, Outcome, Pair, Parameters};
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
    let has_wildcards = vec![false; workload.num_ranks()];
    let state = State::new(workload, *parameters, &has_wildcards, observer);
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
        let ready = std::mem::take(&mut self.ready);
        let mut changed = std::mem::take(&mut self.changed);
        for rank in changed.drain(..).rev() {
            for &(_, action, after) in ready.iter().filter(|ready| ready.0 == rank) {
                let job = *self.state.job(action);
                let busy = match job.kind() {
                    Kind::Send => self.state.units.nic(rank, job.nic),
                    _ => self.state.units.cpu(rank, job.cpu),
                };
                let time = match job.kind() {
                    Kind::Recv => after,
                    _ => after.max(self.state.units.get(busy)),
                };
                self.insert(time, action);
            }
        }
        (self.ready, self.changed) = (ready, changed);
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
        let job = *self.state.job(action);
        if job.kind() == Kind::Recv {
            return self.receive(now, action, &job);
        }
        let cpu = self.state.units.cpu(job.rank, job.cpu);
        let mut free = self.state.units.get(cpu);
        if job.kind() != Kind::Send {
            if free > now {
                self.insert_again(free, action);
                return Ok(());
            }
            self.state.observer.calc(action, now);
            let end = now.wrapping_add(job.size);
            self.state.units.set(cpu, end);
            self.begin(action);
            self.end(action, end);
            return Ok(());
        }
        let sending = self.state.units.nic(job.rank, job.nic);
        free = free.max(self.state.units.get(sending));
        if free > now {
            self.insert_again(free, action);
            return Ok(());
        }
        self.send(now, action, &job, [cpu, sending]);
        Ok(())
    }

    fn send(&mut self, now: u64, action: u32, job: &Job, [cpu, sending]: [usize; 2]) {
        self.begin(action);
        self.state.observer.send(action, now);
        let p = self.state.parameters;
        let rest = job.size.max(1) - 1;
        let end = now.wrapping_add(p.overhead).wrapping_add(rest.wrapping_mul(p.overhead_per_byte));
        let bytes = p.wire_ns(rest);
        self.state.units.set(cpu, end);
        self.state.units.set(sending, now.wrapping_add(p.gap).wrapping_add(bytes));
        self.insert(end.wrapping_add(p.latency).wrapping_add(bytes), action | MESSAGE);
        if self.state.is_eager(job.size.max(1)) {
            self.end(action, end);
        }
    }

    fn receive(&mut self, now: u64, action: u32, job: &Job) -> Result<(), Abort> {
        self.begin(action);
        let Some(send) = self.state.take_message(action, now) else {
            return Ok(());
        };
        if now < self.came[send as usize] {
            return Err(Abort(Pair { send, receive: action }));
        }
        self.state.meet_at(now, send, action, true);
        let cpu = self.state.units.cpu(job.rank, job.cpu);
        let sending = self.state.units.nic(job.rank, job.nic);
        let p = self.state.parameters;
        let nic_end = self.state.units.get(sending).max(now).wrapping_add(p.gap);
        let size = job.size.max(1);
        let end = nic_end
            .wrapping_add(p.overhead)
            .wrapping_add((size - 1).wrapping_mul(p.overhead_per_byte));
        self.state.units.set(cpu, end);
        self.state.units.set(sending + 1, nic_end);
        if !self.state.is_eager(size) {
            self.release(send, job.cpu, job.nic, end, nic_end);
        }
        self.end(action, end);
        Ok(())
    }

    /// Takes a message in if its receive was posted and the receive's processor is free.
    fn take(&mut self, now: u64, send: u32) {
        let Some(receive) = self.state.take_receive(send, now) else {
            self.came[send as usize] = now;
            return;
        };
        let job = *self.state.job(send);
        let size = job.size.max(1);
        let cpu = self.state.units.cpu(job.to, self.state.job(receive).cpu);
        let receiving = self.state.units.nic(job.to, job.nic) + 1;
        let free = self.state.units.get(cpu).max(self.state.units.get(receiving));
        if free > now {
            self.insert_again(free, send | MESSAGE);
            return self.state.keep(receive);
        }
        self.state.meet_at(now, send, receive, false);
        let p = self.state.parameters;
        let nic_end = now.wrapping_add(p.gap);
        let end = nic_end
            .wrapping_add(p.overhead)
            .wrapping_add((size - 1).wrapping_mul(p.overhead_per_byte));
        self.state.units.set(cpu, end);
        self.state.units.set(receiving, nic_end);
        if !self.state.is_eager(size) {
            self.release(send, job.cpu, job.nic, end, nic_end);
        }
        self.end(receive, end);
    }

    /// Ends a send that waited for its receive, and holds its rank's processor and gap until the
    /// message was taken in.
    fn release(&mut self, send: u32, cpu: u16, nic: u8, end: u64, nic_end: u64) {
        let rank = self.state.job(send).rank;
        self.end(send, end);
        let (cpu, nic) = (self.state.units.cpu(rank, cpu), self.state.units.nic(rank, nic));
        self.state.units.raise(cpu, end);
        self.state.units.raise(nic, nic_end);
    }

    /// Starts an action. What waits for a start is ready at time 0.
    fn begin(&mut self, action: u32) {
        self.note(self.state.job(action).rank);
        let Self { state, ready, .. } = self;
        state.begin(action, |state, waiter| meet(state, ready, waiter, 0));
    }

    fn end(&mut self, action: u32, time: u64) {
        self.note(self.state.job(action).rank);
        let Self { state, ready, after, .. } = self;
        state.end(action, |state, waiter| {
            let after = &mut after[waiter as usize];
            *after = (*after).max(time);
            meet(state, ready, waiter, *after);
        });
    }
}

/// Meets a dependency of an action, which starts at `after` if it was the last one.
fn meet<O: Observer>(
    state: &mut State<'_, O>,
    ready: &mut Vec<(u32, u32, u64)>,
    waiter: u32,
    after: u64,
) {
    if state.meet(waiter) {
        ready.push((state.job(waiter).rank, waiter, after));
    }
}
