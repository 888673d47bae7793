//! Actions that may start, in the order in which they will: that of the layout.

use crate::heap::{Fifo, Heap, Least, flat};

/// Actions whose dependencies are met, by offset. The compiler laid a rank's actions out as they
/// should start, so the first in the section is taken first, whenever the others became ready.
#[derive(Debug, Default)]
pub(super) struct Ready {
    /// Those that came in ascending order, as those of one list of dependents do: the usual case
    /// needs no heap.
    ascending: Fifo<u32>,
    /// Those that came behind a larger one.
    others: Least<u32>,
}

flat!(struct Ready { ascending, others });

impl Ready {
    /// Adds an action whose dependencies are met now.
    #[inline]
    pub(super) fn push(&mut self, heap: &Heap, offset: u32) {
        match self.ascending.last(heap) {
            Some(&last) if last > offset => self.others.push(heap, offset),
            _ => self.ascending.push(heap, offset),
        }
    }

    /// The first of the section.
    #[inline]
    pub(super) fn first(&self, heap: &Heap) -> Option<u32> {
        match (self.ascending.at(heap, 0), self.others.first(heap)) {
            (Some(&ascending), Some(other)) => Some(ascending.min(other)),
            (Some(&ascending), None) => Some(ascending),
            (None, other) => other,
        }
    }

    /// Takes the first of the section.
    #[inline]
    pub(super) fn pop(&mut self, heap: &Heap) -> Option<u32> {
        if self.others.is_empty() { self.ascending.pop(heap) } else { self.pop_first(heap) }
    }

    /// The same where some came behind a larger one.
    fn pop_first(&mut self, heap: &Heap) -> Option<u32> {
        let other = self.others.first(heap);
        let ascending = self.ascending.at(heap, 0);
        if ascending.is_none_or(|&ascending| other.is_some_and(|other| other < ascending)) {
            return self.others.pop(heap);
        }
        self.ascending.pop(heap)
    }

    /// Whether nothing is ready.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.ascending.is_empty() && self.others.is_empty()
    }

    /// Actions that are ready.
    #[inline]
    pub(super) fn len(&self) -> u64 {
        (self.ascending.len() + self.others.len()) as u64
    }

    /// Gives the memory back; nothing is ready.
    pub(super) fn release(&mut self, heap: &Heap) {
        self.ascending.release(heap);
        self.others.release(heap);
    }
}
