//! Numbers for places in memory, so that what is known of bytes can lie in arrays.

/// The bytes between neighbouring places where accesses begin or end, numbered from the lowest on.
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// Where cells begin; the last one is the end of the last cell.
    bounds: Vec<u64>,
    /// By bucket of addresses, the first bound in it or behind it; one more entry for the end.
    buckets: Vec<usize>,
    /// The bucket of an address is its distance from the first bound, shifted right so far.
    shift: u32,
}

impl Cells {
    /// From where accesses begin and end, in any order.
    pub(super) fn new(mut bounds: Vec<u64>) -> Self {
        bounds.sort_unstable();
        bounds.dedup();
        let (Some(&first), Some(&last)) = (bounds.first(), bounds.last()) else { return Self::default() };
        let mut shift = 0;
        while (last - first) >> shift > bounds.len() as u64 {
            shift += 1;
        }
        let mut at = 0;
        let buckets = (0..=((last - first) >> shift) + 1).map(|bucket| {
            at += bounds[at..].iter().take_while(|&&bound| (bound - first) >> shift < bucket).count();
            at
        });
        Self { buckets: buckets.collect(), bounds, shift }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.bounds.len().saturating_sub(1)
    }

    /// The cell that begins at one of the places that these were made from; the number of cells for the last.
    pub(super) fn at(&self, addr: u64) -> usize {
        let bucket = ((addr - self.bounds[0]) >> self.shift) as usize;
        let (from, to) = (self.buckets[bucket], self.buckets[bucket + 1]);
        from + self.bounds[from..to].partition_point(|&bound| bound < addr)
    }

    /// Where a cell begins; for the number of cells, where the last one ends.
    pub(super) fn addr(&self, cell: usize) -> u64 {
        self.bounds[cell]
    }
}

/// A set of numbers below a bound: a bit a number, and a bit for each 64 bits of the level below that are not all clear.
#[derive(Debug, Default)]
pub(super) struct Marks(Vec<Vec<u64>>);

impl Marks {
    /// The empty set of numbers below `count`.
    pub(super) fn new(count: usize) -> Self {
        let mut levels = Vec::new();
        let mut bits = count;
        while levels.is_empty() || bits > 1 {
            bits = bits.div_ceil(64);
            levels.push(vec![0; bits]);
        }
        Self(levels)
    }

    pub(super) fn contains(&self, number: usize) -> bool {
        self.0[0][number / 64] >> (number % 64) & 1 != 0
    }

    pub(super) fn insert(&mut self, mut number: usize) {
        for level in &mut self.0 {
            level[number / 64] |= 1 << (number % 64);
            number /= 64;
        }
    }

    pub(super) fn remove(&mut self, mut number: usize) {
        for level in &mut self.0 {
            level[number / 64] &= !(1 << (number % 64));
            if level[number / 64] != 0 {
                break;
            }
            number /= 64;
        }
    }

    /// The largest number that is not above `number`.
    pub(super) fn last_up_to(&self, mut number: usize) -> Option<usize> {
        for (height, level) in self.0.iter().enumerate() {
            let word = level[number / 64] & (u64::MAX >> (63 - number % 64));
            if word != 0 {
                let last = number / 64 * 64 + word.ilog2() as usize;
                let below = self.0[..height].iter().rev();
                return Some(below.fold(last, |last, level| last * 64 + level[last].ilog2() as usize));
            }
            number = (number / 64).checked_sub(1)?;
        }
        None
    }
}

#[cfg(test)]
mod tests;
