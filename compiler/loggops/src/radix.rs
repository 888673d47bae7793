//! A queue of ranks by the window in which they have something to do, and their order in it.

/// A monotone priority queue (Ahuja, Mehlhorn, Orlin, Tarjan: Faster Algorithms for the Shortest
/// Path Problem, 1990): no key is smaller than the last one taken. A bucket holds the keys that
/// differ from that one in a bit and in none above it.
#[derive(Debug)]
pub(crate) struct RadixQueue {
    buckets: Vec<Bucket>,
    /// A bit for each bucket with entries.
    filled: u128,
    last: u64,
}

#[derive(Debug, Clone, Default)]
struct Bucket {
    entries: Vec<(u64, u32)>,
    /// The least key. Meaningless without entries.
    least: u64,
}

impl RadixQueue {
    pub(crate) fn new() -> Self {
        Self { buckets: vec![Bucket::default(); 65], filled: 0, last: 0 }
    }

    /// Adds a rank. Its key must be at least the last one taken.
    #[inline]
    pub(crate) fn push(&mut self, key: u64, rank: u32) {
        debug_assert!(key >= self.last);
        let at = (64 - (key ^ self.last).leading_zeros()) as usize;
        let bucket = &mut self.buckets[at];
        bucket.least = if bucket.entries.is_empty() { key } else { bucket.least.min(key) };
        bucket.entries.push((key, rank));
        self.filled |= 1 << at;
    }

    /// Returns the least key.
    pub(crate) fn first(&self) -> Option<u64> {
        (self.filled != 0).then(|| self.buckets[self.filled.trailing_zeros() as usize].least)
    }

    /// Moves all ranks of the least key to `ranks`.
    pub(crate) fn take(&mut self, ranks: &mut Vec<u32>) {
        let Some(first) = self.first() else { return };
        self.last = first;
        let at = self.filled.trailing_zeros() as usize;
        if at > 0 {
            let mut entries = std::mem::take(&mut self.buckets[at].entries);
            self.filled &= !(1 << at);
            for &(key, rank) in &entries {
                self.push(key, rank);
            }
            entries.clear();
            self.buckets[at].entries = entries;
        }
        self.filled &= !1;
        ranks.extend(self.buckets[0].entries.drain(..).map(|(_, rank)| rank));
    }
}

/// Sorts ranks in linear time.
#[derive(Debug)]
pub(crate) struct Order {
    /// A bit for each rank.
    bits: Vec<u64>,
}

impl Order {
    pub(crate) fn new(ranks: usize) -> Self {
        Self { bits: vec![0; ranks.div_ceil(64)] }
    }

    /// Sorts ranks, and may drop repeated ones.
    pub(crate) fn sort(&mut self, ranks: &mut Vec<u32>) {
        // Few ranks take less time than all bits.
        if ranks.len() < self.bits.len() / 16 {
            ranks.sort_unstable();
            return;
        }
        for &rank in &*ranks {
            self.bits[rank as usize / 64] |= 1 << (rank % 64);
        }
        ranks.clear();
        for (word, bits) in (0..).zip(&mut self.bits) {
            let mut rest = std::mem::take(bits);
            while rest != 0 {
                ranks.push(word * 64 + rest.trailing_zeros());
                rest &= rest - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Order;

    #[test]
    fn few_and_many_ranks_are_sorted() {
        let mut random = fastrand::Rng::with_seed(3);
        for ranks in [3, 63, 64, 65, 5000] {
            let mut order = Order::new(ranks as usize);
            for count in [0, 1, 3, ranks / 2, ranks] {
                let mut all: Vec<u32> = (0..ranks).collect();
                random.shuffle(&mut all);
                let mut some = all[..count as usize].to_vec();
                let mut sorted = some.clone();
                sorted.sort_unstable();
                order.sort(&mut some);
                assert_eq!(some, sorted, "{count} of {ranks} ranks");
            }
        }
    }
}
