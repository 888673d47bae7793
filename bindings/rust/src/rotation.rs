//! The instances of a schedule, in the order in which they were looked at last.
//!
//! A start needs an instance that has ended. Runs mostly end in the order of their starts, so a
//! start looks at the instance first that was looked at longest ago. A start may look at
//! [`EARNED`] instances, and leaves the looks that it did not need to later ones. So a start takes
//! an amortised constant time, however many runs are open. There are at most about twice as many
//! instances as runs were open at a time.

use crate::error::Result;
use std::sync::atomic::{AtomicU32, Ordering};

/// The looks that a start adds to those that earlier ones have left.
const EARNED: u32 = 2;

/// The instances of a schedule. They form a ring: from each slot a link leads to the one that was
/// looked at next, and from the last one to the first. It is used only under the engine lock.
#[derive(Debug, Default)]
pub(crate) struct Rotation {
    /// The slot that was looked at or added last, plus 1; 0 if there is none.
    last: AtomicU32,
    /// The number of instances.
    count: AtomicU32,
    /// The looks that earlier starts have left.
    looks: AtomicU32,
}

/// The links of the ring.
pub(crate) trait Ring {
    /// Returns the slot to which the link of a slot leads.
    fn next(&self, slot: u32) -> u32;

    /// Sets the link of a slot.
    fn set_next(&mut self, slot: u32, next: u32);
}

impl Rotation {
    /// Adds an instance that starts now.
    pub(crate) fn add(&self, ring: &mut impl Ring, slot: u32) {
        let first = self.last().map_or(slot, |last| {
            let first = ring.next(last);
            ring.set_next(last, slot);
            first
        });
        ring.set_next(slot, first);
        self.set_last(slot);
        self.count.store(self.count() + 1, Ordering::Relaxed);
    }

    /// Returns the slot of the instance that was looked at or added last; `None` if there is none.
    #[inline]
    pub(crate) fn last(&self) -> Option<u32> {
        self.last.load(Ordering::Relaxed).checked_sub(1)
    }

    #[inline]
    fn set_last(&self, slot: u32) {
        self.last.store(slot + 1, Ordering::Relaxed);
    }

    #[inline]
    fn count(&self) -> u32 {
        self.count.load(Ordering::Relaxed)
    }

    /// Removes and returns the slots of all instances.
    pub(crate) fn take(&self, ring: &impl Ring) -> Vec<u32> {
        let first = self.last().map(|last| ring.next(last));
        let slots = std::iter::successors(first, |&slot| Some(ring.next(slot)));
        let slots = slots.take(self.count() as usize).collect();
        self.last.store(0, Ordering::Relaxed);
        self.count.store(0, Ordering::Relaxed);
        slots
    }

    /// Returns the slot of an instance that has ended; `None` if none was found. `has_ended` tells
    /// if the instance in a slot has ended.
    ///
    /// # Errors
    /// The error of `has_ended`.
    #[inline]
    pub(crate) fn find<R: Ring>(
        &self,
        ring: &mut R,
        mut has_ended: impl FnMut(&mut R, u32) -> Result<bool>,
    ) -> Result<Option<u32>> {
        let Some(mut slot) = self.last() else { return Ok(None) };
        let mut looks = self.looks.load(Ordering::Relaxed) + EARNED;
        let mut found = None;
        for _ in 0..self.count().min(looks) {
            slot = ring.next(slot);
            self.set_last(slot);
            looks -= 1;
            if has_ended(ring, slot)? {
                found = Some(slot);
                break;
            }
        }
        self.looks.store(looks.min(self.count()), Ordering::Relaxed);
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The slots of a schedule.
    #[derive(Default)]
    struct Slots {
        next: Vec<u32>,
        is_open: Vec<bool>,
        looks: u32,
    }

    impl Ring for Slots {
        fn next(&self, slot: u32) -> u32 {
            self.next[slot as usize]
        }

        fn set_next(&mut self, slot: u32, next: u32) {
            self.next[slot as usize] = next;
        }
    }

    /// Starts a run on an instance that has ended, or on a new one. Returns its slot.
    fn start(rotation: &Rotation, slots: &mut Slots) -> u32 {
        let has_ended = |slots: &mut Slots, slot: u32| {
            slots.looks += 1;
            Ok(!slots.is_open[slot as usize])
        };
        let slot = rotation.find(slots, has_ended).unwrap().unwrap_or_else(|| {
            let slot = slots.next.len() as u32;
            slots.next.push(slot);
            slots.is_open.push(false);
            rotation.add(slots, slot);
            slot
        });
        slots.is_open[slot as usize] = true;
        slot
    }

    #[test]
    fn open_runs_cost_a_start_a_constant_number_of_looks() {
        const RUNS: u32 = 2000;
        let (rotation, mut slots) = (Rotation::default(), Slots::default());
        for _ in 0..RUNS {
            start(&rotation, &mut slots);
        }
        assert_eq!(slots.next.len(), RUNS as usize);
        assert!(slots.looks <= EARNED * RUNS, "{} looks", slots.looks);
        // All end, and each starts again at the first look.
        slots.is_open.fill(false);
        slots.looks = 0;
        let mut again: Vec<u32> = (0..RUNS).map(|_| start(&rotation, &mut slots)).collect();
        again.sort_unstable();
        assert!(again.into_iter().eq(0..RUNS));
        assert_eq!((slots.next.len(), slots.looks), (RUNS as usize, RUNS));
        let mut taken = rotation.take(&slots);
        taken.sort_unstable();
        assert!(taken.into_iter().eq(0..RUNS) && rotation.last().is_none());
    }

    #[test]
    fn runs_that_never_end_do_not_multiply_instances() {
        const STUCK: usize = 100;
        const STARTS: u32 = 100_000;
        let (rotation, mut slots) = (Rotation::default(), Slots::default());
        for _ in 0..STUCK {
            start(&rotation, &mut slots);
        }
        slots.looks = 0;
        for _ in 0..STARTS {
            let slot = start(&rotation, &mut slots);
            slots.is_open[slot as usize] = false;
        }
        assert!(slots.next.len() <= 3 * STUCK, "{} instances", slots.next.len());
        assert!(slots.looks <= EARNED * STARTS + STUCK as u32, "{} looks", slots.looks);
    }
}
