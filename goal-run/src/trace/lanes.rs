//! Tracks for slices that overlap.

use std::collections::BTreeSet;

/// Lanes of a rank, each with one slice at a time: actions that are under way together lie beside
/// each other.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// Lanes that there are.
    count: u32,
    free: BTreeSet<u32>,
}

impl Lanes {
    /// The first lane that is free, from 1 on, and whether it is new.
    pub(super) fn take(&mut self) -> (u32, bool) {
        match self.free.pop_first() {
            Some(lane) => (lane, false),
            None => {
                self.count += 1;
                (self.count, true)
            }
        }
    }

    /// A slice has ended.
    pub(super) fn give_back(&mut self, lane: u32) {
        self.free.insert(lane);
    }
}
