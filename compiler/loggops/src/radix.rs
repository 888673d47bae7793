//! A queue of ranks by the window in which they have something to do.

/// A monotone priority queue (Ahuja, Mehlhorn, Orlin, Tarjan: Faster Algorithms for the Shortest
/// Path Problem, 1990): no key is smaller than the last one taken. A bucket holds the keys that
/// differ from that one in a bit and in none above it.
#[derive(Debug)]
pub(crate) struct RadixQueue {
    buckets: Vec<Vec<(u64, u32)>>,
    /// A bit for each bucket with entries.
    filled: u128,
    last: u64,
}

impl RadixQueue {
    pub(crate) fn new() -> Self {
        Self { buckets: vec![Vec::new(); 65], filled: 0, last: 0 }
    }

    /// Adds a rank. Its key must be at least the last one taken.
    #[inline]
    pub(crate) fn push(&mut self, key: u64, rank: u32) {
        debug_assert!(key >= self.last);
        let bucket = (64 - (key ^ self.last).leading_zeros()) as usize;
        self.buckets[bucket].push((key, rank));
        self.filled |= 1 << bucket;
    }

    /// Moves all ranks of the least key to `ranks`, and returns that key.
    pub(crate) fn take(&mut self, ranks: &mut Vec<u32>) -> Option<u64> {
        if self.filled == 0 {
            return None;
        }
        let bucket = self.filled.trailing_zeros() as usize;
        if bucket > 0 {
            let mut entries = std::mem::take(&mut self.buckets[bucket]);
            self.filled &= !(1 << bucket);
            self.last = entries.iter().map(|&(key, _)| key).min().unwrap_or(self.last);
            for &(key, rank) in &entries {
                self.push(key, rank);
            }
            entries.clear();
            self.buckets[bucket] = entries;
        }
        self.filled &= !1;
        ranks.extend(self.buckets[0].drain(..).map(|(_, rank)| rank));
        Some(self.last)
    }
}
