//! Actions that may start, in the order in which they will: that of the layout.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Actions whose dependencies are met, by offset. The compiler laid a rank's actions out as they should start, so the first in
/// the section is taken first, whenever the others became ready.
#[derive(Debug, Default)]
pub(super) struct Ready {
    /// Those that came in ascending order, as those of one list of dependents do: the usual case needs no heap.
    ascending: VecDeque<u32>,
    /// Those that came behind a larger one.
    others: BinaryHeap<Reverse<u32>>,
}

impl Ready {
    /// Adds an action whose dependencies are met now.
    #[inline]
    pub(super) fn push(&mut self, offset: u32) {
        match self.ascending.back() {
            Some(&last) if last > offset => self.others.push(Reverse(offset)),
            _ => self.ascending.push_back(offset),
        }
    }

    /// The first of the section.
    #[inline]
    pub(super) fn first(&self) -> Option<u32> {
        match (self.ascending.front(), self.others.peek()) {
            (Some(&ascending), Some(&Reverse(other))) => Some(ascending.min(other)),
            (Some(&ascending), None) => Some(ascending),
            (None, other) => other.map(|&Reverse(other)| other),
        }
    }

    /// Takes the first of the section.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<u32> {
        match (self.ascending.front(), self.others.peek()) {
            (Some(ascending), Some(Reverse(other))) if other < ascending => {}
            (Some(_), _) => return self.ascending.pop_front(),
            (None, _) => {}
        }
        self.others.pop().map(|Reverse(other)| other)
    }

    /// Whether nothing is ready.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.ascending.is_empty() && self.others.is_empty()
    }
}
