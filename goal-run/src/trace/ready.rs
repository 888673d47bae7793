//! When actions became ready: with the last end or start that they waited for.

use goal_asm::nisa::{Offsets, Section};
use goal_engine::slot;
use rustc_hash::FxHashMap;

/// The dependencies of an instance, counted as its engine counted them.
#[derive(Debug)]
pub(super) struct Readiness {
    start: u64,
    /// For each action, by slot, the dependencies that it still waits for.
    counters: Vec<u16>,
    /// When actions became ready that have not started.
    ready: FxHashMap<u32, u64>,
}

impl Readiness {
    /// Of an instance that starts at a time.
    pub(super) fn new(section: Section<'_>, start: u64) -> Self {
        let mut counters = Vec::new();
        for (offset, record) in section.records() {
            counters.resize(slot(offset), 0);
            counters.push(record.sources);
        }
        Self { start, counters, ready: FxHashMap::default() }
    }

    /// An action starts: when it became ready.
    pub(super) fn start(&mut self, section: Section<'_>, offset: u32, time: u64) -> u64 {
        self.release(section.record(offset).start_dependents, time);
        self.ready.remove(&offset).unwrap_or(self.start)
    }

    /// An action has ended.
    pub(super) fn end(&mut self, section: Section<'_>, offset: u32, time: u64) {
        self.release(section.record(offset).dependents, time);
    }

    fn release(&mut self, dependents: Offsets<'_>, time: u64) {
        for offset in dependents.iter() {
            let counter = &mut self.counters[slot(offset)];
            *counter = counter.saturating_sub(1);
            if *counter == 0 {
                self.ready.insert(offset, time);
            }
        }
    }
}
