//! A hash table.

use super::{Block, Flat, Heap, flat};
use std::mem::take;

/// The key of a value in a table.
pub(crate) trait Key: Flat + Copy + Eq {
    /// Returns the key as two words. Different keys have different words.
    fn words(self) -> (u64, u64);
}

impl Key for u32 {
    #[inline(always)]
    fn words(self) -> (u64, u64) {
        (0, self.into())
    }
}

impl Key for u64 {
    #[inline(always)]
    fn words(self) -> (u64, u64) {
        (0, self)
    }
}

/// A hash table: open addressing, linear probing, at most half full. The heap's seed determines the
/// place of a key.
#[derive(Debug, Default)]
pub(crate) struct Table<K, V> {
    places: Block<Option<(K, V)>>,
    /// The number of `places` in use: a power of two, or 0.
    room: u32,
    len: u32,
    /// The place of the entry that was accessed last. Most often the next access is to the same
    /// entry.
    last: u32,
}

flat!(struct Table<K, V> { places, room, len, last });

impl<K: Key, V: Flat> Table<K, V> {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    fn mask(&self) -> usize {
        self.room as usize - 1
    }

    #[inline]
    fn home(&self, heap: &Heap, key: &K) -> usize {
        let (x, y) = key.words();
        heap.seed().mix(x, y) as usize & self.mask()
    }

    /// Returns the place of a key. If the key is absent, returns the free place for it.
    #[inline]
    fn find(&self, heap: &Heap, key: &K) -> usize {
        let (mask, places) = (self.mask(), self.places.values(heap));
        let mut place = self.home(heap, key);
        while places[place].as_ref().is_some_and(|(other, _)| other != key) {
            place = (place + 1) & mask;
        }
        place
    }

    #[inline]
    pub(crate) fn get<'a>(&'a self, heap: &'a Heap, key: K) -> Option<&'a V> {
        if self.len == 0 {
            return None;
        }
        self.places.values(heap)[self.find(heap, &key)].as_ref().map(|(_, value)| value)
    }

    #[inline]
    pub(crate) fn get_mut<'a>(&'a mut self, heap: &'a Heap, key: K) -> Option<&'a mut V> {
        if self.len == 0 {
            return None;
        }
        let place = self.find(heap, &key);
        self.places.values_mut(heap)[place].as_mut().map(|(_, value)| value)
    }

    /// Returns the value of a key. Inserts the default value if the key is absent.
    #[inline]
    pub(crate) fn entry<'a>(&'a mut self, heap: &'a Heap, key: K) -> &'a mut V {
        let last = self.places.values(heap).get(self.last as usize);
        if !matches!(last, Some(Some((other, _))) if *other == key) {
            self.seek(heap, key);
        }
        &mut self.places.values_mut(heap)[self.last as usize]
            .get_or_insert_with(|| (key, V::default()))
            .1
    }

    /// Sets `last` to the place of a key. If the key is absent, reserves a free place for it.
    #[inline(never)]
    fn seek(&mut self, heap: &Heap, key: K) {
        if 2 * (self.len + 1) > self.room {
            self.grow(heap);
        }
        let place = self.find(heap, &key);
        self.len += u32::from(self.places.values(heap)[place].is_none());
        self.last = place as u32;
    }

    pub(crate) fn remove(&mut self, heap: &Heap, key: K) -> Option<V> {
        if self.len == 0 {
            return None;
        }
        let mut free = self.find(heap, &key);
        let (_, value) = self.places.values_mut(heap)[free].take()?;
        self.len -= 1;
        // Entries that were put further back because this place was taken move up.
        let mask = self.mask();
        let mut place = free;
        loop {
            place = (place + 1) & mask;
            let Some((other, _)) = &self.places.values(heap)[place] else { return Some(value) };
            let home = self.home(heap, other);
            if (place.wrapping_sub(home) & mask) >= (place.wrapping_sub(free) & mask) {
                self.places.values_mut(heap).swap(place, free);
                free = place;
            }
        }
    }

    /// Removes and returns an entry; `None` if there is none.
    pub(crate) fn pop(&mut self, heap: &Heap) -> Option<(K, V)> {
        let &(key, _) = self.places.values(heap).iter().flatten().next()?;
        Some((key, self.remove(heap, key)?))
    }

    /// Frees the memory and drops all entries.
    pub(crate) fn release(&mut self, heap: &Heap) {
        self.places.release(heap);
        *self = Self::default();
    }

    /// The number of places that a look-up of a key visits.
    #[cfg(test)]
    pub(crate) fn probes(&self, heap: &Heap, key: K) -> usize {
        1 + (self.find(heap, &key).wrapping_sub(self.home(heap, &key)) & self.mask())
    }

    #[cold]
    fn grow(&mut self, heap: &Heap) {
        // At least two: a look-up of an absent key ends at a free place.
        let larger = Block::new(heap, (2 * self.places.len() + 1).max(2));
        let mut places = std::mem::replace(&mut self.places, larger);
        self.room = self.places.room(heap);
        for place in places.values_mut(heap) {
            if let Some((key, value)) = take(place) {
                let at = self.find(heap, &key);
                self.places.values_mut(heap)[at] = Some((key, value));
            }
        }
        places.release(heap);
    }
}
