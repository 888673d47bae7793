//! The actions that may start, ordered by their position in the section.

use super::ids::Action;
use crate::heap::{Fifo, Heap, Least, flat};

/// Actions whose dependencies are met, by offset. The compiler lays out a rank's actions in the
/// order in which they should start, so the first in the section is taken first, even if others
/// became ready earlier.
#[derive(Debug, Default)]
pub(super) struct Ready {
    /// Actions that were added in ascending order, as one list of dependents is. In this usual case
    /// no binary heap is needed.
    ascending: Fifo<Action>,
    /// Actions that were added after one with a larger offset.
    others: Least<Action>,
}

flat!(struct Ready { ascending, others });

impl Ready {
    /// Adds an action whose dependencies are met now.
    #[inline(always)]
    pub(super) fn push(&mut self, heap: &Heap, action: Action) {
        match self.ascending.last(heap) {
            Some(&last) if last > action => self.others.push(heap, action),
            _ => self.ascending.push(heap, action),
        }
    }

    /// Returns the first of them in the section.
    #[inline]
    pub(super) fn first(&self, heap: &Heap) -> Option<Action> {
        match (self.ascending.at(heap, 0), self.others.first(heap)) {
            (Some(&ascending), Some(other)) => Some(ascending.min(other)),
            (Some(&ascending), None) => Some(ascending),
            (None, other) => other,
        }
    }

    /// Removes and returns the first of them in the section.
    #[inline]
    pub(super) fn pop(&mut self, heap: &Heap) -> Option<Action> {
        if self.others.is_empty() { self.ascending.pop(heap) } else { self.pop_first(heap) }
    }

    /// The same if `others` is not empty.
    fn pop_first(&mut self, heap: &Heap) -> Option<Action> {
        let other = self.others.first(heap);
        let ascending = self.ascending.at(heap, 0);
        if ascending.is_none_or(|&ascending| other.is_some_and(|other| other < ascending)) {
            return self.others.pop(heap);
        }
        self.ascending.pop(heap)
    }

    /// Returns true if no action is ready.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.ascending.is_empty() && self.others.is_empty()
    }

    /// Returns the number of ready actions.
    #[inline]
    pub(super) fn len(&self) -> u64 {
        (self.ascending.len() + self.others.len()) as u64
    }

    /// Frees the memory. No action may be ready.
    pub(super) fn release(&mut self, heap: &Heap) {
        self.ascending.release(heap);
        self.others.release(heap);
    }
}
