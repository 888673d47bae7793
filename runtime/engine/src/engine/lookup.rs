//! A hash table that numbers the keys of a schedule. It is read for every message and never changes
//! after the schedule is built.

use crate::seed::Seed;

/// A table that numbers keys from 0, in the order in which they are added. It uses open addressing
/// and is at most half full.
#[derive(Debug)]
pub(super) struct Lookup {
    seed: Seed,
    /// For each entry a key and the key's number plus 1, or 0 for a free entry. The length is a
    /// power of two or 0.
    entries: Vec<(u64, u32)>,
    len: u32,
}

impl Lookup {
    pub(super) fn new(seed: Seed) -> Self {
        Self { seed, entries: Vec::new(), len: 0 }
    }

    /// Removes all keys.
    pub(super) fn clear(&mut self) {
        (self.entries, self.len) = (Vec::new(), 0);
    }

    /// The number of keys.
    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    /// Adds a key, unless it has a number already.
    pub(super) fn add(&mut self, key: u64) {
        if 2 * (self.len() + 1) > self.entries.len() {
            let entries = std::mem::take(&mut self.entries);
            self.entries = vec![(0, 0); (2 * entries.len()).max(2)];
            for (key, number) in entries.into_iter().filter(|&(_, number)| number != 0) {
                let (place, _) = self.find(key);
                self.entries[place] = (key, number);
            }
        }
        let (place, number) = self.find(key);
        if number == 0 {
            self.len += 1;
            self.entries[place] = (key, self.len);
        }
    }

    /// Returns the number of a key; `None` if the key was not added.
    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<u32> {
        if self.len == 0 {
            return None;
        }
        self.find(key).1.checked_sub(1)
    }

    #[inline(always)]
    fn home(&self, key: u64) -> usize {
        self.seed.mix(key >> 32, key & u64::from(u32::MAX)) as usize & (self.entries.len() - 1)
    }

    /// Returns the index of a key's entry and the key's number plus 1. If the key is absent,
    /// returns the free entry for it and 0.
    #[inline]
    fn find(&self, key: u64) -> (usize, u32) {
        let mask = self.entries.len() - 1;
        let mut place = self.home(key);
        loop {
            let (other, number) = self.entries[place];
            if number == 0 || other == key {
                return (place, number);
            }
            place = (place + 1) & mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Lookup;
    use crate::seed::Seed;
    use crate::seed::keys;
    use std::collections::HashMap;

    #[test]
    fn keys_keep_their_numbers() {
        let mut random = fastrand::Rng::with_seed(3);
        let (mut lookup, mut model) = (Lookup::new(Seed::random()), HashMap::new());
        assert_eq!(lookup.get(0), None);
        for _ in 0..10_000 {
            let key = random.u64(..3000) << random.u32(..60);
            let next = model.len() as u32;
            let number = *model.entry(key).or_insert(next);
            lookup.add(key);
            assert_eq!((lookup.get(key), lookup.len()), (Some(number), model.len()));
        }
        assert!((0..3000).all(|key| lookup.get(key) == model.get(&key).copied()));
    }

    /// Counts places and not time: twice as many keys may cost twice as many looks, not four times.
    #[test]
    fn no_choice_of_tags_makes_look_ups_long() {
        for count in [4096, 8192] {
            for (number, tags) in keys::sets(count).into_iter().enumerate() {
                let mut lookup = Lookup::new(Seed::random());
                let key = |tag: u32| 1 << 32 | u64::from(tag);
                tags.iter().for_each(|&tag| lookup.add(key(tag)));
                let looks = |key| {
                    1 + (lookup.find(key).0.wrapping_sub(lookup.home(key))
                        & (lookup.entries.len() - 1))
                };
                let all: usize = tags.iter().map(|&tag| looks(key(tag))).sum();
                assert!(all < 4 * count, "set {number} of {count} tags: {all} looks");
            }
        }
    }
}
