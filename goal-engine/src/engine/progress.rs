//! Counters and queues of an instance: which action may start, which has ended.

use super::code::Home;
use super::ready::Ready;
use super::schedule::{Schedule, slot};
use crate::heap::{Fifo, Heap, flat};
use goal_asm::nisa::{Offsets, Record};

/// Which actions of an instance may start, and which have ended.
#[derive(Debug, Default)]
pub(super) struct Progress {
    pub(super) unfinished: u32,
    /// Independent actions that were started; the others are ready from the beginning.
    started_independent: u32,
    pub(super) ready: Ready,
    /// Actions that ended and whose dependents do not know yet.
    pub(super) ended: Fifo<u32>,
}

flat!(struct Progress { unfinished, started_independent, ready, ended });

impl Progress {
    /// An instance of a schedule starts, when the one before it has ended.
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

    /// Whether all actions have ended.
    #[inline]
    pub(super) fn is_finished(&self) -> bool {
        self.unfinished == 0
    }

    /// Whether an action can start or has ended without its dependents knowing, where so many wait
    /// for nothing.
    #[inline]
    pub(super) fn has_work(&self, independent: usize) -> bool {
        !self.ready.is_empty()
            || !self.ended.is_empty()
            || (self.started_independent as usize) < independent
    }

    /// Actions that can start, where so many wait for nothing.
    #[inline]
    pub(super) fn ready_now(&self, independent: usize) -> u64 {
        self.ready.len() + independent as u64 - u64::from(self.started_independent)
    }

    /// The next action to start: of those that can, the first of the section. `independent` tells
    /// which one of those is that wait for nothing.
    #[inline(always)]
    pub(super) fn next_ready(
        &mut self,
        heap: &Heap,
        independent: impl FnOnce(usize) -> Option<u32>,
    ) -> Option<u32> {
        if let Some(offset) = independent(self.started_independent as usize)
            && (self.ready.is_empty() || self.ready.first(heap).is_none_or(|first| offset < first))
        {
            self.started_independent += 1;
            return Some(offset);
        }
        self.ready.pop(heap)
    }
}

/// The state of the actions of one instance.
pub(super) struct ActionQueue<'a> {
    pub(super) progress: &'a mut Progress,
    pub(super) home: &'a mut Home,
    pub(super) heap: &'a Heap,
}

impl ActionQueue<'_> {
    /// The action starts: whoever waits for its start waits no longer.
    #[inline(always)]
    pub(super) fn start(&mut self, record: &Record<'_>) {
        self.release(record.start_dependents);
    }

    /// The action has ended: whoever waits for its end waits no longer.
    #[inline(always)]
    pub(super) fn end_now(&mut self, offset: u32, record: &Record<'_>) {
        self.note_end(offset);
        self.release(record.dependents);
    }

    /// The same for an action of a short schedule.
    #[inline(always)]
    pub(super) fn end_step(&mut self, offset: u32, dependents: &[u32]) {
        self.note_end(offset);
        self.release_steps(dependents);
    }

    #[inline(always)]
    fn note_end(&mut self, offset: u32) {
        let slot = slot(offset);
        self.home.finished.as_mut_slice()[slot / 64] |= 1 << (slot % 64);
        self.progress.unfinished -= 1;
    }

    /// These actions of a short schedule wait for one thing less.
    #[inline(always)]
    pub(super) fn release_steps(&mut self, dependents: &[u32]) {
        let counters = self.home.counters.as_mut_slice();
        for &offset in dependents {
            count_down(self.progress, counters, self.heap, offset);
        }
    }

    #[inline(always)]
    fn release(&mut self, dependents: Offsets<'_>) {
        if !dependents.is_empty() {
            release(self.progress, self.home.counters.as_mut_slice(), *self.heap, dependents);
        }
    }
}

// Apart from where it is called, and with what it needs only, so that nothing else has to lie in
// memory.
#[inline(never)]
fn release(progress: &mut Progress, counters: &mut [u16], heap: Heap, dependents: Offsets<'_>) {
    for offset in dependents.iter() {
        count_down(progress, counters, &heap, offset);
    }
}

#[inline(always)]
fn count_down(progress: &mut Progress, counters: &mut [u16], heap: &Heap, offset: u32) {
    let counter = &mut counters[slot(offset)];
    *counter -= 1;
    if *counter == 0 {
        progress.ready.push(heap, offset);
    }
}
