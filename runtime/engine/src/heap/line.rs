//! A first-in, first-out queue that seldom has more than one value.

use super::{Flat, Heap, Queue, flat};
use std::mem::take;

/// A first-in, first-out queue. A value that is added to an empty queue lies in the queue itself
/// and not in a block. So a queue of one value never touches the heap.
#[derive(Debug, Default)]
pub(crate) struct Line<T> {
    /// The first value, if `has_head` is true.
    head: T,
    has_head: bool,
    /// The values behind `head`.
    rest: Queue<T>,
}

flat!(struct Line<T> { head, has_head, rest });

impl<T: Flat> Line<T> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        usize::from(self.has_head) + self.rest.len()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        !self.has_head && self.rest.is_empty()
    }

    #[inline]
    pub(crate) fn push(&mut self, heap: &Heap, value: T) {
        if self.is_empty() {
            (self.head, self.has_head) = (value, true);
        } else {
            self.rest.push(heap, value);
        }
    }

    #[inline]
    pub(crate) fn pop(&mut self, heap: &Heap) -> Option<T> {
        if self.has_head {
            self.has_head = false;
            return Some(take(&mut self.head));
        }
        self.rest.pop(heap)
    }

    /// Returns the value that has `ahead` values before it.
    #[inline]
    pub(crate) fn at<'a>(&'a self, heap: &'a Heap, ahead: usize) -> Option<&'a T> {
        match (self.has_head, ahead) {
            (true, 0) => Some(&self.head),
            (true, _) => self.rest.at(heap, ahead - 1),
            (false, _) => self.rest.at(heap, ahead),
        }
    }

    #[inline]
    pub(crate) fn at_mut<'a>(&'a mut self, heap: &'a Heap, ahead: usize) -> Option<&'a mut T> {
        match (self.has_head, ahead) {
            (true, 0) => Some(&mut self.head),
            (true, _) => self.rest.at_mut(heap, ahead - 1),
            (false, _) => self.rest.at_mut(heap, ahead),
        }
    }

    /// Frees the memory. The queue must be empty.
    pub(crate) fn release(&mut self, heap: &Heap) {
        debug_assert!(self.is_empty());
        self.rest.release(heap);
    }

    /// Removes the values for which `keep` returns false.
    pub(crate) fn retain(&mut self, heap: &Heap, mut keep: impl FnMut(&T) -> bool) {
        self.has_head = self.has_head && keep(&self.head);
        self.rest.retain(heap, keep);
    }
}
