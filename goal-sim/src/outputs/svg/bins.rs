//! The sums of processors' work in bins of time.

use super::Work;

/// Bins of a row. Half of them are in use once the second half was needed.
pub(super) const BINS: usize = 512;

/// The work of rows in bins of time. Pairs of bins are joined when work comes after the last bin.
/// So the end need not be known before. Sums are exact.
#[derive(Debug)]
pub(super) struct Bins {
    /// Bins have 2^shift picoseconds.
    shift: u32,
    /// By row, bin and kind of work, picoseconds of processors.
    sums: Vec<[u128; 3]>,
}

impl Bins {
    pub(super) fn new(rows: usize) -> Self {
        Self { shift: 0, sums: vec![[0; 3]; rows * BINS] }
    }

    /// Returns the picoseconds of a bin.
    pub(super) fn width(&self) -> u64 {
        1 << self.shift
    }

    /// Returns the sums of a row, by bin and kind of work.
    pub(super) fn row(&self, row: usize) -> &[[u128; 3]] {
        &self.sums[row * BINS..(row + 1) * BINS]
    }

    /// Adds work of a row from `start` to `end`.
    pub(super) fn add(&mut self, row: usize, work: Work, start: u64, end: u64) {
        if start >= end {
            return;
        }
        while (end - 1) >> self.shift >= BINS as u64 {
            self.join();
        }
        let mut from = start;
        while from < end {
            let bin = from >> self.shift;
            // The end of the last bin may have 65 bits.
            let to = (u128::from(bin + 1) << self.shift).min(u128::from(end)) as u64;
            self.sums[row * BINS + bin as usize][work as usize] += u128::from(to - from);
            from = to;
        }
    }

    /// Joins pairs of bins.
    fn join(&mut self) {
        self.shift += 1;
        for row in self.sums.chunks_mut(BINS) {
            for bin in 0..BINS / 2 {
                let [first, second] = [row[2 * bin], row[2 * bin + 1]];
                row[bin] = std::array::from_fn(|work| first[work] + second[work]);
            }
            row[BINS / 2..].fill([0; 3]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BINS, Bins, Work};

    #[test]
    fn bins_keep_all_work_in_its_place() {
        let mut random = fastrand::Rng::with_seed(7);
        for most in [10, 1000, 1 << 20, 1 << 40, u64::MAX] {
            let mut bins = Bins::new(2);
            let mut all = Vec::new();
            for _ in 0..300 {
                let (row, work) = (random.usize(0..2), Work::ALL[random.usize(0..3)]);
                let [start, other] = [random.u64(0..=most), random.u64(0..=most)];
                let (start, end) = (start.min(other), start.max(other));
                bins.add(row, work, start, end);
                all.push((row, work, start, end));
            }
            let overlap = |of: &(usize, Work, u64, u64), from: u128, to: u128| {
                u128::from(of.3).min(to).saturating_sub(u128::from(of.2).max(from))
            };
            for row in 0..2 {
                for (at, sums) in bins.row(row).iter().enumerate() {
                    let width = u128::from(bins.width());
                    let (from, to) = (at as u128 * width, (at as u128 + 1) * width);
                    for work in Work::ALL {
                        let these = all.iter().filter(|of| of.0 == row && of.1 == work);
                        let wanted: u128 = these.map(|of| overlap(of, from, to)).sum();
                        assert_eq!(sums[work as usize], wanted, "row {row}, bin {at} of {most}");
                    }
                }
            }
        }
    }

    #[test]
    fn joining_uses_at_least_half_of_the_bins() {
        let mut bins = Bins::new(1);
        bins.add(0, Work::Computing, 0, 1_000_003);
        let used = bins.row(0).iter().filter(|sums| sums[0] > 0).count();
        assert!((BINS / 2..=BINS).contains(&used), "{used}");
        let sum: u128 = bins.row(0).iter().map(|sums| sums[0]).sum();
        assert_eq!(sum, 1_000_003);
    }
}
