//! The model of LogGOPSim (spcl/LogGOPSim), to the nanosecond.
//!
//! Events are taken in the order of time, then in the order in which they were first made. An event
//! whose processor or interface is busy comes back when that is free, with its first number. What
//! an event releases becomes ready when its own processor is free (a send: and its gap), even if
//! that lies before the event. So the times of events can go back.
//!
//! Events that need one processor and one interface wait in a line, and the queue of all events has
//! the first of them only. That changes no time if free times never go back, since
//!
//! - the first of a line comes back at a time at which no other of the line could start
//! - of those that come back at one moment, the one with the least number starts first
//!
//! A line of actions is in the order of numbers. An action becomes ready when its processor and its
//! interface are free. The actions before it in the line became ready before, or at that moment.
//! Messages arrive in any order, so their line is sorted (`Inbound`).
//!
//! Free times go back if they wrap, or if a message of no bytes takes less than no time. Then each
//! event comes back by itself.

use super::calendar::{BATCH, Calendar};
use super::inbound::Inbound;
use super::jobs::Job;
use super::state::{MESSAGE, State};
use super::stdcxx::sort;
use super::{Observer, Outcome, Parameters};
use crate::channels::wildcards;
use crate::workload::{Kind, Workload};

/// Simulates a program as LogGOPSim does, and shows it to an observer. Times are unsigned and wrap
/// as LogGOPSim's do.
pub fn simulate(
    workload: &Workload,
    parameters: &Parameters,
    observer: &mut impl Observer,
) -> Outcome {
    let state = State::new(workload, *parameters, &wildcards(workload), observer);
    let has_lines = !state.observer.sees_retries() && never_goes_back(&state.jobs, parameters);
    let mut simulation = Simulation {
        places: if has_lines { vec![Place::default(); workload.len()] } else { Vec::new() },
        has_lines,
        inbound: Vec::new(),
        state,
        events: Calendar::new(),
        numbered: 0,
        ready: Vec::new(),
    };
    simulation.run();
    simulation.state.finish(u64::from(simulation.numbered))
}

/// Returns true if the free time of a processor or an interface can only grow.
fn never_goes_back(jobs: &[Job], p: &Parameters) -> bool {
    let fixed = u128::from(p.latency) + u128::from(p.overhead) + u128::from(p.gap);
    let a_byte = u128::from(p.gap_per_byte.max(p.overhead_per_byte));
    let (mut sum, mut has_empty) = (0_u128, false);
    for job in jobs {
        let size = u128::from(job.size);
        sum = sum.saturating_add(match job.kind() {
            Kind::Calc | Kind::Local | Kind::Dummy => size,
            Kind::Send | Kind::Recv => {
                has_empty |= size == 0;
                fixed.saturating_add(size.saturating_mul(a_byte)).saturating_mul(2)
            }
        });
    }
    let an_empty_one_takes_time =
        p.gap_per_byte <= p.gap.min(p.overhead) && p.overhead_per_byte <= p.overhead;
    sum < 1 << 63 && (!has_empty || an_empty_one_takes_time)
}

/// The place of an action in its line.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    number: u32,
    /// The action behind it.
    next: u32,
}

struct Simulation<'w, O> {
    state: State<'w, O>,
    events: Calendar,
    /// False if each event comes back by itself.
    has_lines: bool,
    /// By action, its place in the line of its processor and interface.
    places: Vec<Place>,
    inbound: Vec<Inbound>,
    numbered: u32,
    /// The actions that the present event made ready: rank and action.
    ready: Vec<(u32, u32)>,
}

/// The needs of an event, as places among the units.
#[derive(Debug, Clone, Copy)]
struct Needs {
    cpu: usize,
    /// The side of the interface, or the processor again.
    side: usize,
}

impl<O: Observer> Simulation<'_, O> {
    fn run(&mut self) {
        let workload = self.state.workload;
        for rank in 0..workload.num_ranks() as u32 {
            self.ready.extend(workload.roots(rank).iter().map(|&root| (rank, root)));
            self.enter();
        }
        loop {
            self.read_ahead();
            let Some((time, number, event)) = self.events.pop() else { return };
            if event & MESSAGE != 0 {
                self.handle_message(time, number, event);
            } else {
                self.handle(time, number, event);
            }
            if !self.ready.is_empty() {
                self.enter();
            }
            self.state.observer.step(self.events.len(), u64::from(self.numbered));
        }
    }

    /// Reads what the next events need, so that it is in the cache when their turn comes. Many are
    /// read at once, as the processor then waits for all of them together.
    #[inline]
    fn read_ahead(&mut self) {
        let Some((events, is_new)) = self.events.announce() else { return };
        let state = &self.state;
        let done = |batches: usize| if is_new { 0 } else { batches * BATCH };
        let (actions, needs) = (events.clone().skip(done(2)), events.clone().skip(done(1)));
        actions.take(3 * BATCH - done(2)).for_each(|event| state.read_action(event));
        needs.take(2 * BATCH - done(1)).for_each(|event| state.read_needs(event));
        events.take(BATCH).for_each(|event| state.read_waiters(event));
    }

    /// Returns when the needs of an event are free.
    #[inline]
    fn free(&self, needs: Needs) -> u64 {
        self.state.units.get(needs.cpu).max(self.state.units.get(needs.side))
    }

    /// Starts an action, or lets it come back when its processor and interface are free.
    fn handle(&mut self, now: u64, number: u32, action: u32) {
        let job = *self.state.job(action);
        if job.kind() == Kind::Recv {
            return self.receive(now, action, &job);
        }
        let needs = self.needs(&job);
        let free = self.free(needs);
        if free > now {
            self.state.observer.retry(action);
            return self.events.push(free, number, action);
        }
        match job.kind() {
            Kind::Send => self.send(now, action, &job, needs),
            _ => self.compute(now, action, &job, needs),
        }
        if self.has_lines {
            self.leave(&job, needs);
        }
    }

    /// Returns the needs of an action that is no receive.
    #[inline]
    fn needs(&mut self, job: &Job) -> Needs {
        let cpu = self.state.units.cpu(job.rank, job.cpu);
        let side = match job.kind() {
            Kind::Send => self.state.units.nic(job.rank, job.nic),
            Kind::Recv | Kind::Calc | Kind::Local | Kind::Dummy => cpu,
        };
        Needs { cpu, side }
    }

    /// Returns the place of the word of an action's line. Its halves are the first action and the
    /// last one, each plus 1.
    #[inline]
    fn line(&mut self, job: &Job, needs: Needs) -> usize {
        match job.kind() {
            Kind::Send => self.state.units.both(job.rank, job.cpu, job.nic),
            Kind::Recv | Kind::Calc | Kind::Local | Kind::Dummy => needs.cpu + 1,
        }
    }

    /// Removes the first action of a line, and puts the next one in the queue of events.
    #[inline]
    fn leave(&mut self, job: &Job, needs: Needs) {
        let line = self.line(job, needs);
        let (first, last) = halves(self.state.units.get(line));
        if first == last {
            return self.state.units.set(line, 0);
        }
        let next = self.places[first as usize - 1].next;
        self.state.units.set(line, word(next + 1, last));
        let free = self.free(needs);
        self.events.push(free, self.places[next as usize].number, next);
    }

    /// Adds the events of what became ready: by rank, then by kind as `std::sort` orders it.
    fn enter(&mut self) {
        let mut ready = std::mem::take(&mut self.ready);
        if ready.len() > 1 {
            ready.sort_by_key(|&(rank, _)| rank);
            let order = |&(_, action): &(u32, u32)| self.state.job(action).kind();
            for of_rank in ready.chunk_by_mut(|a, b| a.0 == b.0) {
                sort(of_rank, |a, b| order(a) < order(b));
            }
        }
        for &(_, action) in &ready {
            self.join(action);
        }
        ready.clear();
        self.ready = ready;
    }

    /// Adds the event of an action at the time at which its processor is free, for a send also its
    /// gap.
    fn join(&mut self, action: u32) {
        let job = *self.state.job(action);
        let needs = self.needs(&job);
        if self.has_lines && job.kind() != Kind::Recv {
            let line = self.line(&job, needs);
            let (first, last) = halves(self.state.units.get(line));
            if first > 0 {
                self.places[last as usize - 1].next = action;
                self.places[action as usize].number = self.numbered;
                self.numbered += 1;
                return self.state.units.set(line, word(first, action + 1));
            }
            self.state.units.set(line, word(action + 1, action + 1));
        }
        self.insert(self.free(needs), action);
    }

    #[inline]
    fn insert(&mut self, time: u64, event: u32) {
        self.events.push(time, self.numbered, event);
        self.numbered += 1;
    }

    fn compute(&mut self, now: u64, action: u32, job: &Job, needs: Needs) {
        self.begin(action);
        self.state.observer.calc(action, now);
        self.state.units.set(needs.cpu, now.wrapping_add(job.size));
        self.end(action);
    }

    fn send(&mut self, now: u64, action: u32, job: &Job, needs: Needs) {
        self.begin(action);
        self.state.observer.send(action, now);
        let p = self.state.parameters;
        let rest = job.size.wrapping_sub(1);
        let cpu = now.wrapping_add(p.overhead).wrapping_add(rest.wrapping_mul(p.overhead_per_byte));
        let gap = now.wrapping_add(p.gap).wrapping_add(rest.wrapping_mul(p.gap_per_byte));
        self.state.units.set(needs.cpu, cpu);
        self.state.units.set(needs.side, gap);
        self.insert(now.wrapping_add(p.overhead).wrapping_add(p.latency), action | MESSAGE);
        if self.state.is_eager(job.size) {
            self.end(action);
        }
    }

    fn receive(&mut self, now: u64, action: u32, job: &Job) {
        self.begin(action);
        if let Some(send) = self.state.take_message(action, now) {
            self.state.meet_at(now, send, action, true);
            // The receive's size, processor and interface decide, also at the sender.
            if !self.state.is_eager(job.size) {
                self.release(send, now, job.cpu, job.nic);
            }
            self.end(action);
        }
    }

    /// Takes a message in, or lets it wait until its processor and interface are free.
    fn handle_message(&mut self, now: u64, number: u32, event: u32) {
        let send = event & !MESSAGE;
        let job = *self.state.job(send);
        let cpu = self.state.units.cpu(job.to, job.cpu);
        let needs = Needs { cpu, side: self.state.units.nic(job.to, job.nic) + 1 };
        let free = self.free(needs);
        if !job.is_parked() {
            if free <= now {
                return self.take(now, send, &job, needs);
            }
            self.state.observer.retry(send);
            if !self.has_lines {
                return self.events.push(free, number, event);
            }
            return self.park(free, number, send, &job);
        }
        let line = self.inbound(&job);
        if free <= now {
            self.inbound[line].pop();
            self.state.jobs[send as usize].set_parked(false);
            self.take(now, send, &job, needs);
        }
        let free = self.free(needs);
        if let Some((number, send)) = self.inbound[line].expect(free) {
            self.events.push(free, number, send | MESSAGE);
        }
    }

    /// Returns the line of the messages that need what a message needs.
    fn inbound(&mut self, job: &Job) -> usize {
        let place = self.state.units.both(job.to, job.cpu, job.nic) + 1;
        let line = self.state.units.get(place) as usize;
        if line > 0 {
            return line - 1;
        }
        self.inbound.push(Inbound::default());
        self.state.units.set(place, self.inbound.len() as u64);
        self.inbound.len() - 1
    }

    /// Lets a message wait until a time.
    fn park(&mut self, free: u64, number: u32, send: u32, job: &Job) {
        let line = self.inbound(job);
        let inbound = &mut self.inbound[line];
        if inbound.is_before(free, number) {
            // The first of the line is in the queue already.
            return self.events.push(free, number, send | MESSAGE);
        }
        if inbound.push(number, send) {
            inbound.expect(free);
            self.events.push(free, number, send | MESSAGE);
        }
        self.state.jobs[send as usize].set_parked(true);
    }

    /// Takes a message in at its receiver, on the processor and interface that its send names.
    fn take(&mut self, now: u64, send: u32, job: &Job, needs: Needs) {
        let p = self.state.parameters;
        let rest = job.size.wrapping_sub(1);
        let gap = rest.wrapping_mul(p.gap_per_byte);
        let bytes = rest.wrapping_mul(p.overhead_per_byte).max(gap);
        self.state.units.set(needs.cpu, now.wrapping_add(p.overhead).wrapping_add(bytes));
        self.state.units.set(needs.side, now.wrapping_add(p.gap).wrapping_add(gap));
        if let Some(receive) = self.state.take_receive(send, now) {
            self.state.meet_at(now, send, receive, false);
            if !self.state.is_eager(job.size) {
                self.release(send, now, job.cpu, job.nic);
            }
            self.end(receive);
        }
    }

    /// Ends a send that waited for its receive, and holds its rank's processor and gap until now.
    fn release(&mut self, send: u32, now: u64, cpu: u16, nic: u8) {
        let rank = self.state.job(send).rank;
        let (cpu, nic) = (self.state.units.cpu(rank, cpu), self.state.units.nic(rank, nic));
        self.state.units.raise(cpu, now);
        self.state.units.raise(nic, now);
        self.end(send);
    }

    fn begin(&mut self, action: u32) {
        let Self { state, ready, .. } = self;
        state.begin(action, |state, waiter| meet(state, ready, waiter));
    }

    fn end(&mut self, action: u32) {
        let Self { state, ready, .. } = self;
        state.end(action, |state, waiter| meet(state, ready, waiter));
    }
}

/// Meets a dependency of an action.
fn meet<O: Observer>(state: &mut State<'_, O>, ready: &mut Vec<(u32, u32)>, waiter: u32) {
    if state.meet(waiter) {
        ready.push((state.job(waiter).rank, waiter));
    }
}

fn halves(word: u64) -> (u32, u32) {
    ((word >> 32) as u32, word as u32)
}

fn word(first: u32, last: u32) -> u64 {
    u64::from(first) << 32 | u64::from(last)
}
