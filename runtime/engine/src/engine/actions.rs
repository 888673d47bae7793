//! Tracks the dependencies of an instance: the counters and queues that decide when an action may
//! start.

use super::home::Home;
use super::ids::Action;
use super::ready::Ready;
use super::schedule::Schedule;
use crate::heap::{Heap, Queue, flat};
use goal_asm::nisa::Offsets;

/// The ready and the ended actions of an instance.
#[derive(Debug, Default)]
pub(super) struct ActionStates {
    pub(super) unfinished: u32,
    /// The number of actions without dependencies that have started. The other actions without
    /// dependencies are ready.
    started_independent: u32,
    pub(super) ready: Ready,
    /// Ended actions that have not released their dependents yet.
    pub(super) ended: Queue<Action>,
}

flat!(struct ActionStates { unfinished, started_independent, ready, ended });

impl ActionStates {
    /// Resets the counters and bitmaps for a new run of a schedule. The previous run must have
    /// ended.
    #[inline]
    pub(super) fn begin(&mut self, schedule: &Schedule, home: &mut Home) {
        let initial = schedule.initial_counters();
        home.counters.as_mut_slice()[..initial.len()].copy_from_slice(initial);
        match &mut home.finished.as_mut_slice()[..initial.len().div_ceil(64)] {
            [word] => *word = 0,
            words => words.fill(0),
        }
        (self.started_independent, self.unfinished) = (0, schedule.actions());
    }

    /// Returns true if all actions have ended.
    #[inline]
    pub(super) fn is_finished(&self) -> bool {
        self.unfinished == 0
    }

    /// Returns true if an action can start, or has ended and must release its dependents.
    /// `independent` is the number of actions without dependencies.
    #[inline]
    pub(super) fn has_work(&self, independent: usize) -> bool {
        !self.ready.is_empty()
            || !self.ended.is_empty()
            || (self.started_independent as usize) < independent
    }

    /// Returns the number of actions that can start. `independent` is the number of actions without
    /// dependencies.
    #[inline]
    pub(super) fn ready_now(&self, independent: usize) -> u64 {
        self.ready.len() + independent as u64 - u64::from(self.started_independent)
    }

    /// Returns the next action to start: the first in the section among those that can start.
    /// `independent` returns the n-th action without dependencies.
    #[inline(always)]
    pub(super) fn next_ready(
        &mut self,
        heap: &Heap,
        independent: impl FnOnce(usize) -> Option<Action>,
    ) -> Option<Action> {
        if let Some(action) = independent(self.started_independent as usize)
            && (self.ready.is_empty() || self.ready.first(heap).is_none_or(|first| action < first))
        {
            self.started_independent += 1;
            return Some(action);
        }
        self.ready.pop(heap)
    }
}

/// The action queues and the counters of one instance, borrowed together.
pub(super) struct ActionQueue<'a> {
    pub(super) actions: &'a mut ActionStates,
    pub(super) home: &'a mut Home,
    pub(super) heap: &'a Heap,
}

/// The actions that wait for the start or the end of another one.
pub(super) trait Dependents {
    /// Decrements the dependency counter of each action. Actions whose counter reaches zero become
    /// ready.
    fn release(self, queue: &mut ActionQueue<'_>);
}

impl Dependents for &[Action] {
    #[inline(always)]
    fn release(self, queue: &mut ActionQueue<'_>) {
        let counters = queue.home.counters.as_mut_slice();
        for &action in self {
            count_down(queue.actions, counters, queue.heap, action);
        }
    }
}

impl Dependents for Offsets<'_> {
    #[inline(always)]
    fn release(self, queue: &mut ActionQueue<'_>) {
        if !self.is_empty() {
            let counters = queue.home.counters.as_mut_slice();
            release_offsets(queue.actions, counters, *queue.heap, self);
        }
    }
}

impl ActionQueue<'_> {
    /// Finishes an action: marks it as ended and releases its dependents.
    #[inline(always)]
    pub(super) fn finish(&mut self, action: Action, dependents: impl Dependents) {
        let slot = action.slot();
        self.home.finished.as_mut_slice()[slot / 64] |= 1 << (slot % 64);
        self.actions.unfinished -= 1;
        dependents.release(self);
    }

    /// Decrements the dependency counters of `dependents`. Actions whose counter reaches zero
    /// become ready.
    #[inline(always)]
    pub(super) fn release(&mut self, dependents: impl Dependents) {
        dependents.release(self);
    }
}

// Not inlined, and with the fewest arguments: the caller's other values then stay in registers.
#[inline(never)]
fn release_offsets(
    actions: &mut ActionStates,
    counters: &mut [u16],
    heap: Heap,
    dependents: Offsets<'_>,
) {
    for offset in dependents.iter() {
        count_down(actions, counters, &heap, Action(offset));
    }
}

#[inline(always)]
fn count_down(actions: &mut ActionStates, counters: &mut [u16], heap: &Heap, action: Action) {
    let counter = &mut counters[action.slot()];
    *counter -= 1;
    if *counter == 0 {
        actions.ready.push(heap, action);
    }
}
