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
        let (Some(&first), Some(&last)) = (bounds.first(), bounds.last()) else {
            return Self::default();
        };
        let mut shift = 0;
        while (last - first) >> shift > bounds.len() as u64 {
            shift += 1;
        }
        let mut at = 0;
        let buckets = (0..=((last - first) >> shift) + 1).map(|bucket| {
            at +=
                bounds[at..].iter().take_while(|&&bound| (bound - first) >> shift < bucket).count();
            at
        });
        Self { buckets: buckets.collect(), bounds, shift }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.bounds.len().saturating_sub(1)
    }

    /// The cell that begins at one of the places that these were made from; the number of cells for
    /// the last.
    pub(super) fn at(&self, addr: u64) -> usize {
        let bucket = ((addr - self.bounds[0]) >> self.shift) as usize;
        let (from, to) = (self.buckets[bucket], self.buckets[bucket + 1]);
        from + self.bounds[from..to].partition_point(|&bound| bound < addr)
    }

    /// The cells from one of the places to a later one: the first, and the first behind them.
    pub(super) fn range(&self, addr: u64, end: u64) -> (usize, usize) {
        let first = self.at(addr);
        // An access is mostly to a cell of its own.
        (first, if self.bounds[first + 1] == end { first + 1 } else { self.at(end) })
    }

    /// Where a cell begins; for the number of cells, where the last one ends.
    pub(super) fn addr(&self, cell: usize) -> u64 {
        self.bounds[cell]
    }
}

#[cfg(test)]
mod tests;
