//! One poll: the paper's Listing 1.

use super::actions::ActionQueue;
use super::code::Code;
use super::ids::{Action, ActionRef, InstanceKey, Rank};
use super::local::LocalOperation;
use super::send::Message;
use super::shared::SHARED_MIN;
use super::{Cause, Core, Engine, Failure, Progress, Waiting};
use crate::heap::Heap;
use crate::transport::Transport;
use goal_asm::nisa::{Buffer, Operation, Record, Section};

/// The most actions that one poll starts or finishes for each instance.
pub(super) const ACTIONS_PER_POLL: usize = 1024;

impl<T: Transport> Engine<'_, T> {
    /// Makes progress, but does only a bounded amount of work: takes messages, releases the
    /// dependents of ended actions, starts ready actions, sends messages that waited for room.
    /// `now_ns` is the caller's clock. It must not go back.
    ///
    /// # Errors
    /// The first failure of an action. Every further call returns it again.
    pub fn poll(&mut self, now_ns: u64) -> Result<Progress, Failure> {
        if self.core.held.has_failed() {
            return Err(self.failed());
        }
        self.core.held.stats.polls += 1;
        // Instances run before messages are taken: a message whose receive is posted need not be
        // copied.
        let mut worked = self.run_queued(now_ns);
        worked |= self.take_messages();
        worked |= self.core.has_underway() && self.continue_operations(now_ns);
        worked |= self.run_queued(now_ns);
        self.announce_room();
        let has_failed = self.core.held.has_failed();
        self.core.held.fruitful =
            self.core.held.fruitful.wrapping_add(u32::from(worked | has_failed));
        if has_failed {
            Err(self.failed())
        } else {
            Ok(Progress { worked, waiting: self.core.waiting() })
        }
    }

    #[cold]
    fn failed(&self) -> Failure {
        self.core.held.failure(&self.core.heap()).expect("an action has failed")
    }

    /// Continues operations that take longer than one poll: copies, shared operations, messages
    /// that wait for room, `calc`. Returns true if any of them made progress.
    #[inline(never)]
    fn continue_operations(&mut self, now_ns: u64) -> bool {
        let Self { transport, core, codes, .. } = self;
        let mut worked = !core.held.arrivals.direct.is_empty() && core.fetch(transport, codes);
        worked |= !core.held.shared.is_empty() && core.work_on_shared(transport, codes);
        worked |= !core.held.outbox.is_empty() && core.flush(transport, codes);
        worked | core.finish_calcs(now_ns)
    }

    /// Runs every queued instance for a bounded number of actions. Returns true if any of them made
    /// progress.
    #[inline]
    fn run_queued(&mut self, now_ns: u64) -> bool {
        !self.core.held.runnable.is_empty() && self.run_all(now_ns)
    }

    #[inline(never)]
    fn run_all(&mut self, now_ns: u64) -> bool {
        let mut worked = false;
        for _ in 0..self.core.held.runnable.len() {
            let heap = &self.core.heap();
            let Some(key) = self.core.held.runnable.pop(heap) else { break };
            worked |= self.run(key, now_ns);
        }
        worked
    }

    /// Runs one instance for a bounded number of actions. Returns true if it made progress.
    fn run(&mut self, key: InstanceKey, now_ns: u64) -> bool {
        let Self { transport, core, codes, .. } = self;
        let heap = &core.heap();
        let instance = core.held.instances.get(heap, key);
        let code = &codes[instance.code as usize];
        if let (Some(steps), None) = (code.steps(), &core.recorder) {
            return core.run_steps(transport, codes, key, steps, now_ns);
        }
        let Some(schedule) = code.whole() else { return self.run_in_window(key, now_ns) };
        let section = schedule.section();
        let independent = section.independent().len();
        let was_finished = core.begin_run(key, independent);
        let actions = core.run_records(transport, codes, key, section, now_ns);
        core.end_run(key, independent, was_finished);
        actions > 0
    }
}

impl Core {
    /// Begins a run of an instance, which has `independent` actions without dependencies. Returns
    /// true if all its actions had ended before.
    #[inline(always)]
    pub(super) fn begin_run(&mut self, key: InstanceKey, independent: usize) -> bool {
        let heap = &self.heap();
        let state = &mut *self.held;
        let actions = &state.instances.get(heap, key).actions;
        state.stats.ready_max = state.stats.ready_max.max(actions.ready_now(independent));
        actions.is_finished()
    }

    /// Ends a run of an instance. Queues the instance again if it still has work.
    #[inline(always)]
    pub(super) fn end_run(&mut self, key: InstanceKey, independent: usize, was_finished: bool) {
        let heap = &self.heap();
        let state = &mut *self.held;
        let instance = state.instances.get_mut(heap, key);
        let is_finished = instance.actions.is_finished();
        instance.is_queued = false;
        if !is_finished && instance.actions.has_work(independent) {
            instance.enqueue(heap, &mut state.runnable, key);
        }
        if is_finished && !was_finished {
            state.unfinished -= 1;
        }
    }

    /// Runs an instance whose actions are read from their section. Returns the number of actions
    /// that were started or finished.
    #[inline(never)]
    fn run_records<T: Transport>(
        &mut self,
        transport: &mut T,
        codes: &[Code],
        key: InstanceKey,
        section: Section<'_>,
        now_ns: u64,
    ) -> usize {
        let heap = &self.heap();
        let independent = section.independent();
        let next =
            |started| (started < independent.len()).then(|| Action(independent.get(started)));
        let mut actions = 0;
        if self.held.has_failed() {
            return 0;
        }
        // An action may reach all of the engine, so the queue is borrowed again behind each.
        let mut queue = self.queue(heap, key);
        while actions < ACTIONS_PER_POLL {
            if let Some(action) = queue.actions.ended.pop(heap) {
                queue.finish(action, section.record(action.0).dependents);
                actions += 1;
                continue;
            }
            let Some(action) = queue.actions.next_ready(heap, next) else { break };
            actions += 1;
            let record = section.record(action.0);
            queue.release(record.start_dependents);
            let has_ended = self.start_action(transport, codes, key, action, &record, now_ns);
            if has_ended {
                self.note_end(ActionRef { instance: key, action });
            } else if self.held.has_failed() {
                break;
            }
            queue = self.queue(heap, key);
            if has_ended {
                queue.finish(action, record.dependents);
            }
        }
        actions
    }

    /// Returns true if an operation is under way that takes longer than one poll.
    #[inline]
    fn has_underway(&self) -> bool {
        let state = &*self.held;
        !state.arrivals.direct.is_empty()
            || !state.outbox.is_empty()
            || !state.timers.is_empty()
            || !state.shared.is_empty()
    }

    #[inline]
    fn waiting(&self) -> Waiting {
        if self.has_underway()
            && let Some(waiting) = self.waiting_underway()
        {
            return waiting;
        }
        if self.held.unfinished > 0 { Waiting::Messages } else { Waiting::Nothing }
    }

    #[inline(never)]
    fn waiting_underway(&self) -> Option<Waiting> {
        let room = !self.held.outbox.is_empty() || !self.held.shared.is_empty();
        match self.held.timers.next(&self.held.heap) {
            Some(time_ns) => Some(Waiting::Until { time_ns, room }),
            None => room.then_some(Waiting::Room),
        }
    }

    fn finish_calcs(&mut self, now_ns: u64) -> bool {
        let heap = &self.heap();
        let mut worked = false;
        for _ in 0..ACTIONS_PER_POLL {
            let Some(at) = self.held.timers.due(heap, now_ns) else { break };
            self.finish_later(at);
            worked = true;
        }
        worked
    }

    /// Borrows the queues and counters of an instance.
    #[inline]
    pub(super) fn queue<'a>(&'a mut self, heap: &'a Heap, key: InstanceKey) -> ActionQueue<'a> {
        ActionQueue {
            actions: &mut self.held.instances.get_mut(heap, key).actions,
            home: &mut self.homes[key.index()],
            heap,
        }
    }

    /// Starts an action. Returns true if it has ended.
    #[inline(always)]
    pub(super) fn start_action<T: Transport>(
        &mut self,
        transport: &mut T,
        codes: &[Code],
        key: InstanceKey,
        action: Action,
        record: &Record<'_>,
        now_ns: u64,
    ) -> bool {
        let at = ActionRef { instance: key, action };
        self.note_start(codes, at, record);
        match record.operation() {
            Operation::Send { peer, tag, payload, reduce: None } => {
                self.start_send(transport, codes, at, Message { to: Rank(peer), tag, payload })
            }
            Operation::Recv { peer, tag, .. } => self.post(codes, at, peer, tag),
            Operation::Nop => true,
            Operation::Exec { .. } if self.was_combined(at) => true,
            Operation::Exec { op, datatype, a, b, c } => {
                // Each branch makes its own value, so that the operands of the second one stay in
                // registers.
                let result = if a.size() >= SHARED_MIN {
                    self.exec_large(transport, at, LocalOperation { op, datatype, a, b, c })
                } else {
                    let memory = &self.homes[key.index()].memory;
                    Some(self.locals.exec(memory, LocalOperation { op, datatype, a, b, c }))
                };
                result.is_some_and(|result| self.has_ended(codes, at, result))
            }
            _ => self.start_other(transport, codes, at, now_ns),
        }
    }

    /// Starts an action of a less frequent kind. Returns true if it has ended.
    #[inline(never)]
    fn start_other<T: Transport>(
        &mut self,
        transport: &mut T,
        codes: &[Code],
        at: ActionRef,
        now_ns: u64,
    ) -> bool {
        let heap = &self.heap();
        let record =
            codes[self.held.instances.get(heap, at.instance).code as usize].record(at.action);
        let memory = &self.homes[at.instance.index()].memory;
        match record.operation() {
            Operation::Send { peer, tag, payload, reduce: Some((op, datatype, a)) } => {
                let a = Buffer::One(a);
                let operation = LocalOperation { op, datatype, a, b: payload, c: None };
                let result = if payload.size() >= SHARED_MIN {
                    self.exec_large(transport, at, operation)
                } else {
                    let memory = &self.homes[at.instance.index()].memory;
                    Some(self.locals.exec(memory, operation))
                };
                result.is_some_and(|result| self.has_ended(codes, at, result))
                    && self.start_send(
                        transport,
                        codes,
                        at,
                        Message { to: Rank(peer), tag, payload },
                    )
            }
            Operation::Calc { nanos } => {
                let cpu = record.placement().cpu;
                self.held.timers.calc(heap, self.options.calc.duration_ns(nanos), cpu, now_ns, at)
            }
            Operation::User { function, a, b } => {
                let result = self.locals.call(memory, function, a, b);
                self.has_ended(codes, at, result)
            }
            Operation::Wtime { buffer } => {
                let seconds = now_ns as f64 / 1e9;
                memory.scatter(buffer, 0, &seconds.to_le_bytes());
                true
            }
            _ => unreachable!("it is started elsewhere"),
        }
    }

    /// Returns true if a local operation succeeded. If it failed, reports the failure, which ends
    /// the job.
    #[inline]
    fn has_ended(&mut self, codes: &[Code], at: ActionRef, result: Result<(), Cause>) -> bool {
        match result {
            Ok(()) => true,
            Err(cause) => {
                self.fail(codes, at, cause);
                false
            }
        }
    }
}
