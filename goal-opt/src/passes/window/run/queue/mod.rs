//! A priority queue with small integer keys. All actions of a program may be ready at once, and a
//! heap of millions is slow.

#[cfg(test)]
mod tests;

const NONE: u32 = u32::MAX;

/// A queue that returns entries by ascending key, and those of the same key in the order of
/// insertion.
pub(super) struct Queue<T> {
    /// By key, the positions of its first and its last entry.
    ends: Vec<[u32; 2]>,
    /// Entries, each with the position of the next one of its key, or of the next free position.
    entries: Vec<(T, u32)>,
    free: u32,
    /// A tree of bits. The first level has a bit for each key with entries; each further level has
    /// a bit for each word of the level before that is not 0. The last level has one word.
    levels: Vec<Vec<u64>>,
}

impl<T: Copy> Queue<T> {
    /// An empty queue for keys below `keys`.
    pub(super) fn new(keys: usize) -> Self {
        let mut levels = Vec::new();
        let mut words = keys;
        loop {
            words = words.div_ceil(64).max(1);
            levels.push(vec![0; words]);
            if words == 1 {
                break;
            }
        }
        Self { ends: vec![[NONE; 2]; keys], entries: Vec::new(), free: NONE, levels }
    }

    pub(super) fn push(&mut self, key: u32, value: T) {
        let place = self.free;
        let place = match self.entries.get_mut(place as usize) {
            Some(entry) => {
                self.free = std::mem::replace(entry, (value, NONE)).1;
                place
            }
            None => {
                self.entries.push((value, NONE));
                self.entries.len() as u32 - 1
            }
        };
        let [first, last] = &mut self.ends[key as usize];
        let before = std::mem::replace(last, place);
        if *first != NONE {
            self.entries[before as usize].1 = place;
            return;
        }
        *first = place;
        let mut at = key as usize;
        for level in &mut self.levels {
            let word = &mut level[at / 64];
            let was_empty = *word == 0;
            *word |= 1 << (at % 64);
            if !was_empty {
                break;
            }
            at /= 64;
        }
    }

    pub(super) fn pop(&mut self) -> Option<T> {
        let mut at = 0;
        for level in self.levels.iter().rev() {
            let word = level[at];
            if word == 0 {
                return None;
            }
            at = 64 * at + word.trailing_zeros() as usize;
        }
        let first = &mut self.ends[at][0];
        let place = *first;
        let entry = &mut self.entries[place as usize];
        *first = std::mem::replace(&mut entry.1, self.free);
        self.free = place;
        let value = entry.0;
        if *first == NONE {
            for level in &mut self.levels {
                let word = &mut level[at / 64];
                *word &= !(1 << (at % 64));
                if *word != 0 {
                    break;
                }
                at /= 64;
            }
        }
        Some(value)
    }
}
