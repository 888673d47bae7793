//! The faults of all bodies, and the ranks that have them.

use super::sweep::{Bytes, Fault, Faults};
use goal_lang::{ActionId, BodyId};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// A dependency on the end of an action that a rank lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wait {
    pub(super) waiter: ActionId,
    pub(super) prerequisite: ActionId,
}

/// More about a fault.
#[derive(Debug)]
pub(super) struct Details {
    /// The first bytes that it concerns.
    pub(super) bytes: Bytes,
    /// The ranks that have it, ascending.
    pub(super) ranks: Vec<u32>,
    /// What would end it.
    pub(super) wait: Option<Wait>,
    /// In one order of events that was tried the two are ordered: others may order them too.
    pub(super) is_doubtful: bool,
}

/// What is wrong with a program, by body.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// What is wrong with which ranks, of those that run the body.
    pub(super) faults: BTreeMap<(BodyId, Fault), Details>,
    /// Pairs of which the bound on the work left open whether they are ordered.
    pub(super) undecided: u64,
    /// Ranks whose accesses were not all looked at.
    pub(super) cut: Vec<u32>,
}

impl Found {
    /// Adds what a sweep found in a body of `ranks`. `wait` tells what would order two actions.
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

    /// Adds a fault of `ranks`. `wait` tells what would end it, unless it was found before in other
    /// ranks.
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
