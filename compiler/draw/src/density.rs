//! Sums of what ranks do, over groups of ranks and bins of time. Their memory does not grow with
//! the program's actions.

use crate::diagram::{Group, Outlier, Summary};
use crate::limits::{BINS, GROUPS_MAX, OUTLIERS_MAX};

/// A kind of work of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    Computing,
    Sending,
    Receiving,
    /// The rank has not ended. What is left of it is waiting.
    Alive,
}

/// Sums of ranks' work.
#[derive(Debug)]
pub(crate) struct Density {
    ranks: Vec<u32>,
    ranks_a_group: usize,
    /// By lane, its processors, its work and its end.
    lanes: Vec<Load>,
    bins: Bins,
    marks: Vec<Vec<u64>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Load {
    rows: u64,
    busy: u128,
    end: u64,
}

impl Density {
    /// Returns sums without work of these ranks. `unit` is the length of the first bins.
    pub(crate) fn new(ranks: Vec<u32>, unit: u64) -> Self {
        let ranks_a_group = ranks.len().div_ceil(GROUPS_MAX).max(1);
        let groups = ranks.len().div_ceil(ranks_a_group);
        Self {
            lanes: vec![Load { rows: 1, ..Load::default() }; ranks.len()],
            ranks,
            ranks_a_group,
            bins: Bins::new(groups, unit),
            marks: vec![Vec::new(); groups],
        }
    }

    /// Sets the number of processors of a lane.
    pub(crate) fn set_rows(&mut self, lane: usize, rows: u64) {
        self.lanes[lane].rows = rows.max(1);
    }

    /// Adds work of a lane.
    pub(crate) fn add(&mut self, lane: usize, work: Work, start: u64, end: u64) {
        self.bins.add(lane / self.ranks_a_group, work, start, end, 1);
        let load = &mut self.lanes[lane];
        load.busy += u128::from(end.saturating_sub(start));
        load.end = load.end.max(end);
    }

    /// Lets a lane last until a moment.
    pub(crate) fn last(&mut self, lane: usize, end: u64) {
        self.lanes[lane].end = self.lanes[lane].end.max(end);
    }

    /// Adds a marker.
    pub(crate) fn mark(&mut self, lane: usize, at: u64) {
        let marks = &mut self.marks[lane / self.ranks_a_group];
        if marks.len() < BINS {
            marks.push(at);
        }
    }

    /// Returns the sums as shares of the time until `end`.
    pub(crate) fn finish(mut self, end: u64) -> Summary {
        for (lane, load) in self.lanes.iter().enumerate() {
            self.bins.add(lane / self.ranks_a_group, Work::Alive, 0, load.end, load.rows.into());
        }
        let used = (end.div_ceil(self.bins.width()) as usize).clamp(1, BINS);
        let groups: Vec<Group> = self
            .ranks
            .chunks(self.ranks_a_group)
            .map(|ranks| Group { first: ranks[0], last: ranks[ranks.len() - 1] })
            .collect();
        let rows = |group: usize| -> u128 {
            let lanes = self.lanes.chunks(self.ranks_a_group).nth(group).unwrap_or(&[]);
            lanes.iter().map(|load| u128::from(load.rows)).sum()
        };
        let mut all = [0_u128; 4];
        let mut whole = 0;
        let shares = (0..groups.len())
            .map(|group| {
                let rows = rows(group);
                let bins = self.bins.row(group)[..used].iter().enumerate();
                bins.map(|(at, &[computing, sending, receiving, alive])| {
                    let from = at as u64 * self.bins.width();
                    let length = u128::from(self.bins.width().min(end.saturating_sub(from)));
                    let busy = computing + sending + receiving;
                    let parts = [computing, sending, receiving, alive.saturating_sub(busy)];
                    let time = rows * length;
                    whole += time.max(busy);
                    all = std::array::from_fn(|work| all[work] + parts[work]);
                    parts.map(|part| thousandths(part, time.max(busy)))
                })
                .collect()
            })
            .collect();
        Summary {
            outliers: self.outliers(),
            groups,
            bin: self.bins.width(),
            shares,
            all: all.map(|part| thousandths(part, whole)),
            marks: self.marks,
        }
    }

    fn busy(&self, lane: usize) -> u64 {
        u64::try_from(self.lanes[lane].busy).unwrap_or(u64::MAX)
    }

    /// Returns the ranks that end last, have most to do and wait most, unless all ranks are alike.
    fn outliers(&self) -> Vec<Outlier> {
        let mut outliers = Vec::new();
        let mut lanes: Vec<usize> = (0..self.lanes.len()).collect();
        let mut pick = |key: &dyn Fn(usize) -> u64, make: &dyn Fn(usize) -> Outlier| {
            lanes.sort_by_key(|&lane| (std::cmp::Reverse(key(lane)), lane));
            let [Some(&first), Some(&last)] = [lanes.first(), lanes.last()] else { return };
            if key(first) == key(last) {
                return;
            }
            // Ranks as high as many others are no outliers.
            let is_rare = |&lane: &usize| {
                let alike = lanes.iter().filter(|&&other| key(other) == key(lane)).count();
                alike <= OUTLIERS_MAX || alike * 4 <= lanes.len()
            };
            let rare = lanes.iter().copied().take(OUTLIERS_MAX).take_while(is_rare);
            outliers.extend(rare.map(make));
        };
        pick(&|lane| self.lanes[lane].end, &|lane| Outlier::Latest {
            rank: self.ranks[lane],
            end: self.lanes[lane].end,
        });
        pick(&|lane| self.busy(lane), &|lane| Outlier::Busiest {
            rank: self.ranks[lane],
            busy: self.busy(lane),
        });
        let waiting = |lane: usize| {
            let Load { rows, busy, end } = self.lanes[lane];
            let whole = u128::from(end) * u128::from(rows);
            thousandths(whole.saturating_sub(busy), whole)
        };
        pick(&|lane| waiting(lane).into(), &|lane| Outlier::MostWaiting {
            rank: self.ranks[lane],
            share: waiting(lane),
        });
        outliers
    }
}

fn thousandths(part: u128, whole: u128) -> u16 {
    (part.saturating_mul(1000) + whole / 2).checked_div(whole).unwrap_or(0).min(1000) as u16
}

/// The work of groups in bins of time. Pairs of bins are joined when work comes after the last bin.
/// So the end need not be known before. Sums are exact.
#[derive(Debug)]
struct Bins {
    /// Bins have `unit` << `shift`.
    unit: u64,
    shift: u32,
    /// By group, bin and kind of work, its time.
    sums: Vec<[u128; 4]>,
}

impl Bins {
    fn new(groups: usize, unit: u64) -> Self {
        Self { unit: unit.max(1), shift: 0, sums: vec![[0; 4]; groups * BINS] }
    }

    /// Returns the length of a bin.
    fn width(&self) -> u64 {
        u64::try_from(u128::from(self.unit) << self.shift).unwrap_or(u64::MAX)
    }

    /// Returns the sums of a group, by bin and kind of work.
    fn row(&self, group: usize) -> &[[u128; 4]] {
        &self.sums[group * BINS..(group + 1) * BINS]
    }

    /// Adds work of a group from `start` to `end`, on `count` processors.
    fn add(&mut self, group: usize, work: Work, start: u64, end: u64, count: u128) {
        if start >= end {
            return;
        }
        while (end - 1) / self.width() >= BINS as u64 {
            self.join();
        }
        let width = self.width();
        let mut from = start;
        while from < end {
            let bin = from / width;
            let to = width.saturating_mul(bin + 1).min(end);
            let sum = &mut self.sums[group * BINS + bin as usize][work as usize];
            *sum += u128::from(to - from) * count;
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
            row[BINS / 2..].fill([0; 4]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BINS, Bins, Work};

    const ALL: [Work; 4] = [Work::Computing, Work::Sending, Work::Receiving, Work::Alive];

    #[test]
    fn bins_keep_all_work_in_its_place() {
        let mut random = fastrand::Rng::with_seed(7);
        for most in [10, 1000, 1 << 20, 1 << 40, u64::MAX] {
            let mut bins = Bins::new(2, 3);
            let mut all = Vec::new();
            for _ in 0..300 {
                let (row, work) = (random.usize(0..2), ALL[random.usize(0..4)]);
                let [start, other] = [random.u64(0..=most), random.u64(0..=most)];
                let (start, end) = (start.min(other), start.max(other));
                bins.add(row, work, start, end, 1);
                all.push((row, work, start, end));
            }
            let overlap = |of: &(usize, Work, u64, u64), from: u128, to: u128| {
                u128::from(of.3).min(to).saturating_sub(u128::from(of.2).max(from))
            };
            for row in 0..2 {
                for (at, sums) in bins.row(row).iter().enumerate() {
                    let width = u128::from(bins.width());
                    let (from, to) = (at as u128 * width, (at as u128 + 1) * width);
                    for work in ALL {
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
        let mut bins = Bins::new(1, 1);
        bins.add(0, Work::Computing, 0, 1_000_003, 1);
        let used = bins.row(0).iter().filter(|sums| sums[0] > 0).count();
        assert!((BINS / 2..=BINS).contains(&used), "{used}");
        let sum: u128 = bins.row(0).iter().map(|sums| sums[0]).sum();
        assert_eq!(sum, 1_000_003);
    }
}
