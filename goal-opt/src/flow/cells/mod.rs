//! Numbers for ranges of memory, so that facts about bytes can be kept in arrays.

/// The ranges of bytes between neighbouring addresses at which accesses begin or end, numbered by
/// address.
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// The first address of each cell, and the end of the last cell.
    bounds: Vec<u64>,
    /// By bucket of addresses, the first bound in it or after it; one more entry for the end.
    buckets: Vec<usize>,
    /// The bucket of an address is its distance from the first bound, shifted right by this number
    /// of bits.
    shift: u32,
}

impl Cells {
    /// Makes cells of the addresses at which accesses begin and end, in any order.
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

    /// The number of cells.
    pub(super) fn len(&self) -> usize {
        self.bounds.len().saturating_sub(1)
    }

    /// Returns the cell that begins at `addr`, or the number of cells if the last cell ends there.
    /// `addr` must be one of the addresses that the cells were made of.
    pub(super) fn at(&self, addr: u64) -> usize {
        let bucket = ((addr - self.bounds[0]) >> self.shift) as usize;
        let (from, to) = (self.buckets[bucket], self.buckets[bucket + 1]);
        from + self.bounds[from..to].partition_point(|&bound| bound < addr)
    }

    /// Returns the cells from `addr` to `end`: the first cell, and the cell after the last one.
    /// Both must be addresses that the cells were made of.
    pub(super) fn range(&self, addr: u64, end: u64) -> (usize, usize) {
        let first = self.at(addr);
        // Most accesses cover exactly one cell.
        (first, if self.bounds[first + 1] == end { first + 1 } else { self.at(end) })
    }

    /// Returns the first address of a cell. If `cell` is the number of cells, returns the end of
    /// the last cell.
    pub(super) fn addr(&self, cell: usize) -> u64 {
        self.bounds[cell]
    }
}

#[cfg(test)]
mod tests;
