//! Counters and queues of an instance: which action may start, which has ended.

use super::ready::Ready;
use super::schedule::{Schedule, slot};
use crate::memory::Cells;
use goal_asm::nisa::{Offsets, Record, Section};
use std::collections::VecDeque;

/// The state of the actions of one instance.
#[derive(Debug, Default)]
pub(super) struct ActionQueue {
    pub(super) counters: Cells<u16>,
    pub(super) finished: Cells<u64>,
    pub(super) ready: Ready,
    /// Actions that ended and whose dependents do not know yet.
    pub(super) ended: VecDeque<u32>,
    /// Independent actions that were started; the others are ready from the beginning.
    started_independent: usize,
    pub(super) unfinished: u32,
}

impl ActionQueue {
    /// An instance of a schedule starts, when the one before it has ended.
    #[inline]
    pub(super) fn begin(&mut self, schedule: &Schedule, counters: Cells<u16>, finished: Cells<u64>) {
        (self.counters, self.finished) = (counters, finished);
        let initial = schedule.initial_counters();
        self.counters.as_mut_slice()[..initial.len()].copy_from_slice(initial);
        self.finished.as_mut_slice()[..initial.len().div_ceil(64)].fill(0);
        (self.started_independent, self.unfinished) = (0, schedule.actions());
    }

    /// For an instance in a window, whose actions are counted as they enter it.
    pub(super) fn in_window(actions: u32, counters: Cells<u16>, finished: Cells<u64>) -> Self {
        Self { counters, finished, unfinished: actions, ..Self::default() }
    }

    /// Whether all actions have ended.
    #[inline]
    pub(super) fn is_finished(&self) -> bool {
        self.unfinished == 0
    }

    /// Whether an action can start or has ended without its dependents knowing.
    pub(super) fn has_work(&self, section: Section<'_>) -> bool {
        !self.ready.is_empty()
            || !self.ended.is_empty()
            || self.started_independent < section.independent().len()
    }

    /// The next action to start: of those that can, the first of the section.
    #[inline]
    pub(super) fn next_ready(&mut self, section: Section<'_>) -> Option<u32> {
        let independent = section.independent();
        if self.started_independent < independent.len() {
            let offset = independent.get(self.started_independent);
            if self.ready.first().is_none_or(|first| offset < first) {
                self.started_independent += 1;
                return Some(offset);
            }
        }
        self.ready.pop()
    }

    /// The action starts: whoever waits for its start waits no longer.
    #[inline]
    pub(super) fn start(&mut self, record: &Record<'_>) {
        self.release(record.start_dependents);
    }

    /// The action at `offset` has ended; its dependents will know when [`Self::pass_ended`] is called.
    #[inline]
    pub(super) fn end(&mut self, offset: u32) {
        self.ended.push_back(offset);
    }

    /// The action has ended: whoever waits for its end waits no longer.
    #[inline]
    pub(super) fn end_now(&mut self, offset: u32, record: &Record<'_>) {
        let slot = slot(offset);
        self.finished.as_mut_slice()[slot / 64] |= 1 << (slot % 64);
        self.unfinished -= 1;
        self.release(record.dependents);
    }

    /// Tells the dependents of one ended action. False if there was none.
    #[inline]
    pub(super) fn pass_ended(&mut self, section: Section<'_>) -> bool {
        let Some(offset) = self.ended.pop_front() else { return false };
        self.end_now(offset, &section.record(offset));
        true
    }

    #[inline]
    fn release(&mut self, dependents: Offsets<'_>) {
        let counters = self.counters.as_mut_slice();
        for offset in dependents.iter() {
            let counter = &mut counters[slot(offset)];
            *counter -= 1;
            if *counter == 0 {
                self.ready.push(offset);
            }
        }
    }
}
