//! A priority queue.

use super::{Block, Flat, Heap, flat};

/// A priority queue that removes the least value first: a binary heap.
#[derive(Debug, Default)]
pub(crate) struct MinHeap<T> {
    values: Block<T>,
    len: usize,
}

flat!(struct MinHeap<T> { values, len });

impl<T: Flat + Copy + Ord> MinHeap<T> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    pub(crate) fn first(&self, heap: &Heap) -> Option<T> {
        (self.len > 0).then(|| self.values.values(heap)[0])
    }

    pub(crate) fn push(&mut self, heap: &Heap, value: T) {
        let mut at = self.len;
        if at == self.values.len() {
            self.values.grow(heap, 2 * at + 1);
        }
        self.len += 1;
        let values = self.values.values_mut(heap);
        while at > 0 && value < values[(at - 1) / 2] {
            values[at] = values[(at - 1) / 2];
            at = (at - 1) / 2;
        }
        values[at] = value;
    }

    pub(crate) fn pop(&mut self, heap: &Heap) -> Option<T> {
        let first = self.first(heap)?;
        self.len -= 1;
        let values = &mut self.values.values_mut(heap)[..=self.len];
        let (last, values) = values.split_last_mut()?;
        let mut at = 0;
        while let Some(&left) = values.get(2 * at + 1) {
            let right = values.get(2 * at + 2).copied().filter(|&right| right < left);
            let (child, least) = right.map_or((2 * at + 1, left), |right| (2 * at + 2, right));
            if *last <= least {
                break;
            }
            values[at] = least;
            at = child;
        }
        if let Some(place) = values.get_mut(at) {
            *place = *last;
        }
        Some(first)
    }

    /// Frees the memory. The queue must be empty.
    pub(crate) fn release(&mut self, heap: &Heap) {
        debug_assert!(self.is_empty());
        self.values.release(heap);
    }
}
