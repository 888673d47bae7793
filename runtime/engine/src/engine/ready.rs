//! The actions that may start, ordered by their position in the section.

use super::ids::Action;
use crate::heap::{Heap, MinHeap, Queue, flat};

/// Actions whose dependencies are met, by offset. The first one in the section is taken first, even
/// if others became ready earlier. This is the order in which the compiler wants the actions to
/// start.
#[derive(Debug)]
pub(super) struct Ready {
    /// The only ready action, as in a chain; [`Action::NONE`] if there are others or none. While it
    /// is here, both queues are empty.
    only: Action,
    /// Actions that were added in ascending order, for example from one list of dependents. They
    /// need no binary heap.
    ascending: Queue<Action>,
    /// Actions that were added after one with a larger offset.
    others: MinHeap<Action>,
}

flat!(struct Ready { only, ascending, others });

impl Default for Ready {
    fn default() -> Self {
        Self { only: Action::NONE, ascending: Queue::default(), others: MinHeap::default() }
    }
}

impl Ready {
    /// Adds an action whose dependencies are met now.
    #[inline(always)]
    pub(super) fn push(&mut self, heap: &Heap, action: Action) {
        if self.is_empty() {
            self.only = action;
            return;
        }
        if self.only != Action::NONE {
            self.ascending.push(heap, self.only);
            self.only = Action::NONE;
        }
        match self.ascending.last(heap) {
            Some(&last) if last > action => self.others.push(heap, action),
            _ => self.ascending.push(heap, action),
        }
    }

    /// Returns the ready action that comes first in the section.
    #[inline]
    pub(super) fn first(&self, heap: &Heap) -> Option<Action> {
        if self.only != Action::NONE {
            return Some(self.only);
        }
        match (self.ascending.at(heap, 0), self.others.first(heap)) {
            (Some(&ascending), Some(other)) => Some(ascending.min(other)),
            (Some(&ascending), None) => Some(ascending),
            (None, other) => other,
        }
    }

    /// Removes and returns the ready action that comes first in the section.
    #[inline]
    pub(super) fn pop(&mut self, heap: &Heap) -> Option<Action> {
        if self.only != Action::NONE {
            return Some(std::mem::replace(&mut self.only, Action::NONE));
        }
        if self.others.is_empty() { self.ascending.pop(heap) } else { self.pop_first(heap) }
    }

    /// Removes and returns the first ready action of both queues. `others` must not be empty.
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
        self.only == Action::NONE && self.ascending.is_empty() && self.others.is_empty()
    }

    /// Returns the number of ready actions.
    #[inline]
    pub(super) fn len(&self) -> u64 {
        u64::from(self.only != Action::NONE) + (self.ascending.len() + self.others.len()) as u64
    }

    /// Frees the memory. No action may be ready.
    pub(super) fn release(&mut self, heap: &Heap) {
        self.ascending.release(heap);
        self.others.release(heap);
    }
}

#[cfg(test)]
mod tests {
    use super::{Action, Ready};
    use crate::heap::Private;
    use std::collections::BTreeSet;

    #[test]
    fn the_first_in_the_section_comes_first() {
        let private = Private::new();
        let heap = private.heap();
        let mut random = fastrand::Rng::with_seed(11);
        let (mut ready, mut model) = (Ready::default(), BTreeSet::new());
        for round in 0..10_000 {
            // Few actions at a time, then many, so that each queue is used, and none is.
            let most = if round % 1000 < 500 { 2 } else { 40 };
            if model.len() < most && random.bool() {
                let action = Action(8 * random.u32(0..1000));
                if model.insert(action) {
                    ready.push(heap, action);
                }
            } else {
                assert_eq!(ready.first(heap), model.first().copied());
                assert_eq!(ready.pop(heap), model.pop_first());
            }
            assert_eq!((ready.is_empty(), ready.len()), (model.is_empty(), model.len() as u64));
        }
        while ready.pop(heap).is_some() {}
        ready.release(heap);
    }
}
