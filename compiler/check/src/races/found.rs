//! The faults of all bodies, and the ranks that have them.

use super::sweep::{Bytes, Fault, Faults};
use goal_lang::{ActionId, BodyId};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// A missing dependency: `waiter` should wait for the end of `prerequisite`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wait {
    pub(super) waiter: ActionId,
    pub(super) prerequisite: ActionId,
}

/// The details of a fault.
#[derive(Debug)]
pub(super) struct Details {
    /// The first bytes that the fault concerns.
    pub(super) bytes: Bytes,
    /// The ranks that have the fault, in ascending order.
    pub(super) ranks: Vec<u32>,
    /// The dependency that removes the fault, if one is known.
    pub(super) wait: Option<Wait>,
    /// True if one run orders the two accesses, but other runs may match messages differently. So
    /// it is not known whether every run orders them.
    pub(super) is_doubtful: bool,
}

/// All faults of a program.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// By body and fault, the details. Not all ranks that run the body need to have the fault.
    pub(super) faults: BTreeMap<(BodyId, Fault), Details>,
    /// The number of pairs of accesses whose order was left undecided, as the bound on the work was
    /// reached.
    pub(super) undecided: u64,
    /// Ranks whose accesses were not all compared.
    pub(super) cut: Vec<u32>,
}

impl Found {
    /// Adds the faults that a sweep found in a body for `ranks`. `wait` finds a dependency that
    /// orders the two actions of a race. `doubtful` has the races that one run orders.
    pub(super) fn add(
        &mut self,
        body: BodyId,
        faults: Faults,
        ranks: &[u32],
        mut wait: impl FnMut(ActionId, ActionId, &Bytes) -> Option<Wait>,
        doubtful: &[Fault],
    ) {
        self.undecided += faults.undecided * ranks.len() as u64;
        if faults.cut {
            self.cut.extend(ranks);
        }
        for (fault, bytes) in faults.faults {
            let is_doubtful = doubtful.contains(&fault);
            self.add_fault((body, fault), bytes, ranks, is_doubtful, |bytes| match fault {
                Fault::Race(first, second) if first != second => wait(first, second, bytes),
                _ => None,
            });
        }
    }

    /// Adds a fault of `ranks`. `wait` finds the dependency that removes the fault. It is not
    /// called if other ranks have added the same fault before.
    pub(super) fn add_fault(
        &mut self,
        place: (BodyId, Fault),
        bytes: Bytes,
        ranks: &[u32],
        is_doubtful: bool,
        wait: impl FnOnce(&Bytes) -> Option<Wait>,
    ) {
        match self.faults.entry(place) {
            Entry::Occupied(entry) => {
                let details = entry.into_mut();
                details.is_doubtful &= is_doubtful;
                let known = &mut details.ranks;
                let is_ascending = known.last() < ranks.first();
                known.extend(ranks);
                if !is_ascending {
                    known.sort_unstable();
                }
            }
            Entry::Vacant(entry) => {
                let wait = wait(&bytes);
                entry.insert(Details { bytes, ranks: ranks.to_vec(), wait, is_doubtful });
            }
        }
    }
}
