//! A pool of values, which are found by numbers.

use super::{Block, Flat, Heap, flat};
use std::mem::take;

/// Values by number. Numbers of removed values are reused.
#[derive(Debug, Default)]
pub(crate) struct Pool<T> {
    slots: Block<Slot<T>>,
    /// The number of slots that were ever used.
    used: u32,
    /// The first free slot, plus 1; 0 if there is none.
    free: u32,
    len: u32,
}

#[derive(Debug, Default)]
struct Slot<T> {
    value: T,
    /// For a free slot: the next free slot, plus 1, or 0. For a slot in use: [`TAKEN`].
    next_free: u32,
}

const TAKEN: u32 = u32::MAX;

/// The number of slots from which on a pool can't double its size, because numbers of values have
/// 32 bits.
const NUMBERS: usize = 1 << 30;

flat!(struct Pool<T> { slots, used, free, len });
flat!(struct Slot<T> { value, next_free });

impl<T: Flat> Pool<T> {
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the most values that the pool has had at a time: slots are reused.
    pub(crate) fn len_max(&self) -> u64 {
        self.used.into()
    }

    #[inline]
    pub(crate) fn insert(&mut self, heap: &Heap, value: T) -> u32 {
        self.len += 1;
        let key = match self.free {
            0 => {
                if self.used as usize == self.slots.len() {
                    self.grow(heap);
                }
                self.used += 1;
                self.used - 1
            }
            free => {
                self.free = self.slots.values(heap)[free as usize - 1].next_free;
                free - 1
            }
        };
        let slot = &mut self.slots.values_mut(heap)[key as usize];
        *slot = Slot { value, next_free: TAKEN };
        key
    }

    /// # Panics
    /// If there is no such value.
    #[inline]
    pub(crate) fn remove(&mut self, heap: &Heap, key: impl Into<u32>) -> T {
        let key = key.into();
        let slot = &mut self.slots.values_mut(heap)[key as usize];
        assert!(slot.next_free == TAKEN, "nothing has number {key}");
        slot.next_free = self.free;
        self.free = key + 1;
        self.len -= 1;
        take(&mut slot.value)
    }

    /// Returns the value with a number that comes from a peer; `None` if no value has this number.
    #[inline]
    pub(crate) fn find<'a>(&'a mut self, heap: &'a Heap, key: impl Into<u32>) -> Option<&'a mut T> {
        let key = key.into();
        let slot = self.slots.values_mut(heap).get_mut(key as usize)?;
        (slot.next_free == TAKEN).then_some(&mut slot.value)
    }

    /// # Panics
    /// If the number was never in use.
    #[inline]
    pub(crate) fn get<'a>(&'a self, heap: &'a Heap, key: impl Into<u32>) -> &'a T {
        let key = key.into();
        &self.slots.values(heap)[key as usize].value
    }

    /// # Panics
    /// If the number was never in use.
    #[inline]
    pub(crate) fn get_mut<'a>(&'a mut self, heap: &'a Heap, key: impl Into<u32>) -> &'a mut T {
        let key = key.into();
        &mut self.slots.values_mut(heap)[key as usize].value
    }

    #[cold]
    fn grow(&mut self, heap: &Heap) {
        if self.slots.len() >= NUMBERS {
            heap.lacks(2 * (self.slots.len() * size_of::<Slot<T>>()) as u64);
        }
        let mut larger = Block::new(heap, 2 * self.slots.len() + 1);
        for (target, slot) in larger.values_mut(heap).iter_mut().zip(self.slots.values_mut(heap)) {
            *target = take(slot);
        }
        self.slots.release(heap);
        self.slots = larger;
    }
}
