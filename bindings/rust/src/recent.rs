//! Remembers the linked schedules and collectives that a program has started lately. A call finds
//! them by its arguments alone.
//!
//! The engine lock guards the memory. It is emptied before a linked instance is freed, so a slot in
//! it always has the instance that was remembered.

use crate::slots::Use;
use goal_lang::CollectiveKind;
use std::sync::atomic::{AtomicU64, Ordering};

/// A call of a collective with the arguments of the program, as numbers. Equal calls start the same
/// schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawCall {
    /// The communicator.
    pub communicator: usize,
    /// The collective.
    pub kind: CollectiveKind,
    /// True if the input lies where the output will be.
    pub in_place: bool,
    /// The type and the operation.
    pub function: (u32, u32),
    /// The root.
    pub root: u32,
    /// The number of elements.
    pub count: u64,
}

/// The counter of starts in the segment; `None` if the schedule is not a counted collective.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Starts(pub(crate) Option<&'static AtomicU64>);

impl Starts {
    /// Counts a start. The caller holds the engine lock, so a load and a store are enough.
    #[inline(always)]
    pub(crate) fn count(self) {
        if let Some(starts) = self.0 {
            starts.store(starts.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        }
    }
}

/// The number of sets of entries of each kind, and of entries in a set.
const SETS: usize = 64;
const WAYS: usize = 4;

/// A schedule or a call that was started.
#[derive(Clone, Copy)]
struct Entry<K> {
    key: K,
    slot: u32,
    /// The state of the slot's instance when it has ended, bound to the schedule's buffers.
    ended: Use,
    starts: Starts,
}

/// The entries whose keys have one place, the newest first. An unused entry has any key, and the
/// slot [`NO_SLOT`].
type Set<K> = [Entry<K>; WAYS];

/// A number that no slot has. Whoever looks for the slot finds none.
const NO_SLOT: u32 = u32::MAX;

/// The schedules and calls that were started lately.
pub(crate) struct Recent {
    schedules: [Set<usize>; SETS],
    calls: [Set<RawCall>; SETS],
}

impl Default for Recent {
    fn default() -> Self {
        let call = RawCall {
            communicator: 0,
            kind: CollectiveKind::Barrier,
            in_place: false,
            function: (0, 0),
            root: 0,
            count: 0,
        };
        Self { schedules: [[none(0); WAYS]; SETS], calls: [[none(call); WAYS]; SETS] }
    }
}

impl Recent {
    /// Returns the slot, the state of its instance when it has ended, and the counter of a schedule
    /// with the number `key` of the caller; `None` if it is not remembered.
    #[inline(always)]
    pub(crate) fn schedule(&self, key: usize) -> Option<(u32, Use, Starts)> {
        let entry = find(&self.schedules[key % SETS], &key)?;
        Some((entry.slot, entry.ended, entry.starts))
    }

    /// Returns the slot and the counter of a call; `None` if it is not remembered.
    #[inline(always)]
    pub(crate) fn call(&self, call: &RawCall) -> Option<(u32, Starts)> {
        let entry = find(&self.calls[place(call)], call)?;
        Some((entry.slot, entry.starts))
    }

    pub(crate) fn keep_schedule(&mut self, key: usize, slot: u32, ended: Use, starts: Starts) {
        keep(&mut self.schedules[key % SETS], Entry { key, slot, ended, starts });
    }

    pub(crate) fn keep_call(&mut self, key: RawCall, slot: u32, starts: Starts) {
        keep(&mut self.calls[place(&key)], Entry { key, slot, ended: Use::default(), starts });
    }

    /// Forgets everything, because an instance may be freed.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[inline(always)]
fn find<'s, K: PartialEq>(set: &'s Set<K>, key: &K) -> Option<&'s Entry<K>> {
    set.iter().find(|entry| entry.key == *key)
}

/// Returns an entry that names no slot.
fn none<K>(key: K) -> Entry<K> {
    Entry { key, slot: NO_SLOT, ended: Use::default(), starts: Starts(None) }
}

/// Adds an entry to a set, in the place of the entry with its key or of the oldest one.
fn keep<K: PartialEq>(set: &mut Set<K>, entry: Entry<K>) {
    let is_old = |old: &Entry<K>| old.slot == NO_SLOT || old.key == entry.key;
    let place = set.iter().position(is_old).unwrap_or(WAYS - 1);
    set[..=place].rotate_right(1);
    set[0] = entry;
}

#[inline(always)]
fn place(call: &RawCall) -> usize {
    let RawCall { communicator, kind, function, root, count, .. } = *call;
    let mixed = count ^ u64::from(root) << 20 ^ u64::from(function.1) << 28 ^ (kind as u64) << 36;
    let mixed = mixed ^ (communicator as u64) << 44;
    (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize % SETS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_one_place_do_not_displace_each_other() {
        let mut recent = Recent::default();
        let keys = |from: usize| (from..from + WAYS).map(|number| 5 + number * SETS);
        let known = |recent: &Recent| -> Vec<usize> {
            let is_known = |&key: &usize| recent.schedule(key).is_some();
            keys(0).chain(keys(WAYS)).filter(is_known).collect()
        };
        for key in keys(0).chain(keys(0)) {
            recent.keep_schedule(key, key as u32, Use::default(), Starts(None));
        }
        assert_eq!(known(&recent), keys(0).collect::<Vec<_>>());
        // A further one takes the place of the oldest.
        recent.keep_schedule(keys(WAYS).next().unwrap(), 1, Use::default(), Starts(None));
        assert_eq!(known(&recent), keys(1).collect::<Vec<_>>());
        recent.clear();
        assert!(known(&recent).is_empty());
    }
}
