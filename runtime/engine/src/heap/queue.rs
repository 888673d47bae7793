//! A first-in, first-out queue.

use super::{Block, Flat, Heap, flat};
use std::mem::take;

/// A first-in, first-out queue in a ring buffer.
#[derive(Debug, Default)]
pub(crate) struct Queue<T> {
    values: Block<T>,
    /// The number of entries of `values` in use: a power of two, or 0.
    room: u32,
    /// The number of values that were ever removed, and ever added. Both wrap around.
    first: u32,
    past: u32,
}

flat!(struct Queue<T> { values, room, first, past });

impl<T: Flat> Queue<T> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.past.wrapping_sub(self.first) as usize
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.past == self.first
    }

    /// Returns the index in `values` of the value with a number.
    #[inline]
    fn place(&self, number: u32) -> usize {
        (number & self.room.wrapping_sub(1)) as usize
    }

    #[inline]
    pub(crate) fn push(&mut self, heap: &Heap, value: T) {
        if self.past.wrapping_sub(self.first) == self.room {
            self.grow(heap);
        }
        let place = self.place(self.past);
        self.values.values_mut(heap)[place] = value;
        self.past = self.past.wrapping_add(1);
    }

    #[inline]
    pub(crate) fn pop(&mut self, heap: &Heap) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let place = self.place(self.first);
        self.first = self.first.wrapping_add(1);
        Some(take(&mut self.values.values_mut(heap)[place]))
    }

    /// Returns the value that has `ahead` values before it.
    #[inline]
    pub(crate) fn at<'a>(&'a self, heap: &'a Heap, ahead: usize) -> Option<&'a T> {
        (ahead < self.len())
            .then(|| &self.values.values(heap)[self.place(self.first.wrapping_add(ahead as u32))])
    }

    #[inline]
    pub(crate) fn at_mut<'a>(&'a mut self, heap: &'a Heap, ahead: usize) -> Option<&'a mut T> {
        if ahead >= self.len() {
            return None;
        }
        let place = self.place(self.first.wrapping_add(ahead as u32));
        Some(&mut self.values.values_mut(heap)[place])
    }

    #[inline]
    pub(crate) fn last<'a>(&'a self, heap: &'a Heap) -> Option<&'a T> {
        self.at(heap, self.len().wrapping_sub(1))
    }

    #[cold]
    fn grow(&mut self, heap: &Heap) {
        let len = self.len();
        let mut larger = Block::new(heap, (2 * len).max(1));
        for target in &mut larger.values_mut(heap)[..len] {
            *target = self.pop(heap).unwrap_or_default();
        }
        self.values.release(heap);
        (self.values, self.first, self.past) = (larger, 0, len as u32);
        self.room = self.values.room(heap);
    }

    /// Removes the values for which `keep` returns false.
    pub(crate) fn retain(&mut self, heap: &Heap, mut keep: impl FnMut(&T) -> bool) {
        for _ in 0..self.len() {
            if let Some(value) = self.pop(heap)
                && keep(&value)
            {
                self.push(heap, value);
            }
        }
    }

    /// Frees the memory. The queue must be empty.
    pub(crate) fn release(&mut self, heap: &Heap) {
        debug_assert!(self.is_empty());
        self.values.release(heap);
        *self = Self::default();
    }
}
