//! Runs an instance in one of three ways. Most schedules run from decoded steps (`run_steps`). The
//! longest schedules, and those whose receives have wildcards, run from their whole section
//! (`run_records`). A section that is read through a window (`run_in_window`) bounds the memory.

use super::actions::ActionQueue;
use super::code::Code;
use super::error::Cause;
use super::ids::{Action, ActionRef, InstanceKey};
use super::window::Window;
use super::{Core, Engine};
use crate::heap::Heap;
use crate::transport::Transport;
use goal_asm::nisa::Section;
use std::sync::Arc;

/// The most actions that one poll starts or finishes for each instance.
pub(super) const ACTIONS_PER_POLL: usize = 1024;

impl<T: Transport> Engine<'_, T> {
    /// Runs one instance for a bounded number of actions. Returns true if it made progress.
    pub(super) fn run(&mut self, key: InstanceKey, now_ns: u64) -> bool {
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

    /// Runs an instance in a window for a bounded number of actions. Returns true if it made
    /// progress.
    #[inline(never)]
    pub(super) fn run_in_window(&mut self, key: InstanceKey, now_ns: u64) -> bool {
        let Self { transport, core, codes, .. } = self;
        let heap = &core.heap();
        let code = core.held.instances.get(heap, key).code as usize;
        let was_finished = core.held.instances.get(heap, key).actions.is_finished();
        let ready = core.held.instances.get(heap, key).actions.ready.len();
        core.held.stats.ready_max = core.held.stats.ready_max.max(ready);
        let mut actions = 0;
        if !was_finished {
            core.in_window(&mut codes[code], key, |window, queue| match window.end {
                0 => window.fill(queue),
                _ => Ok(()),
            });
        }
        while actions < ACTIONS_PER_POLL && !core.held.has_failed() {
            let Code::Window(window) = &mut codes[code] else { unreachable!("it has a window") };
            let mut queue = core.queue(heap, key);
            if let Some(action) = queue.actions.ended.pop(heap) {
                actions += 1;
                let chunk = Arc::clone(window.chunk(action));
                core.in_window(&mut codes[code], key, |window, queue| {
                    window.finish(queue, action, &chunk.record(action.0))
                });
                continue;
            }
            let Some(action) = queue.actions.ready.pop(heap) else { break };
            actions += 1;
            let chunk = Arc::clone(window.chunk(action));
            let record = chunk.record(action.0);
            window.release(&mut queue, record.start_dependents);
            if core.start_action(transport, codes, key, action, &record, now_ns) {
                core.note_end(ActionRef { instance: key, action });
                core.in_window(&mut codes[code], key, |window, queue| {
                    window.finish(queue, action, &record)
                });
            }
        }
        core.end_run(key, 0, was_finished);
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
        // The start of an action needs the whole engine, so the queue is borrowed again after each
        // action.
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

    /// Borrows the queues and counters of an instance.
    #[inline]
    pub(super) fn queue<'a>(&'a mut self, heap: &'a Heap, key: InstanceKey) -> ActionQueue<'a> {
        ActionQueue {
            actions: &mut self.held.instances.get_mut(heap, key).actions,
            home: &mut self.homes[key.index()],
            heap,
        }
    }

    /// Calls `work` with the window of an instance. An error in the section ends the job.
    fn in_window(
        &mut self,
        code: &mut Code,
        key: InstanceKey,
        work: impl FnOnce(&mut Window, &mut ActionQueue<'_>) -> Result<(), (Action, Cause)>,
    ) {
        let heap = &self.heap();
        let Code::Window(window) = code else { unreachable!("it has a window") };
        if let Err((action, cause)) = work(window, &mut self.queue(heap, key)) {
            let number = window.number(&self.homes[key.index()], action);
            let failure = self.held.instances.get(heap, key).failure(action, number, cause);
            self.held.fail(heap, &failure);
        }
    }
}
