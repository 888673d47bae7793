//! Sets of ranks. A set with few runs, as in the usual algorithms, is a list of runs. Any other set
//! has a bit for each rank.

/// A set of ranks below a number that the caller knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ranks {
    /// The first and the last rank of each run, ascending, with a gap between two runs.
    Runs(Vec<(u32, u32)>),
    /// A bit for each rank.
    Bits(Vec<u64>),
}

impl Ranks {
    pub(super) fn one(rank: u32) -> Self {
        Ranks::Runs(vec![(rank, rank)])
    }

    /// The union of two sets of ranks below `ranks`, in the form that is smaller.
    pub(super) fn union(&self, other: &Ranks, ranks: u32) -> Ranks {
        if let (Ranks::Runs(a), Ranks::Runs(b)) = (self, other) {
            let runs = merged(a, b);
            if runs.len() <= words(ranks) {
                return Ranks::Runs(runs);
            }
            return Ranks::Bits(bits(&Ranks::Runs(runs), ranks));
        }
        let mut all = bits(self, ranks);
        all.iter_mut().zip(bits(other, ranks)).for_each(|(word, more)| *word |= more);
        let all = Ranks::Bits(all);
        if all.first_missing(ranks).is_none() { Ranks::Runs(vec![(0, ranks - 1)]) } else { all }
    }

    pub(super) fn count(&self) -> u32 {
        match self {
            Ranks::Runs(runs) => runs.iter().map(|&(first, last)| last - first + 1).sum(),
            Ranks::Bits(bits) => bits.iter().map(|word| word.count_ones()).sum(),
        }
    }

    pub(super) fn contains(&self, rank: u32) -> bool {
        match self {
            Ranks::Runs(runs) => {
                let after = runs.partition_point(|&(first, _)| first <= rank);
                after > 0 && rank <= runs[after - 1].1
            }
            Ranks::Bits(bits) => bits[(rank / u64::BITS) as usize] >> (rank % u64::BITS) & 1 == 1,
        }
    }

    /// The first rank below `ranks` that is not in the set.
    pub(super) fn first_missing(&self, ranks: u32) -> Option<u32> {
        let first = match self {
            Ranks::Runs(runs) => match runs.first() {
                Some(&(0, last)) => last + 1,
                _ => 0,
            },
            Ranks::Bits(bits) => {
                let full = bits.iter().take_while(|&&word| word == u64::MAX).count();
                let rest = bits.get(full).map_or(0, |word| word.trailing_ones());
                full as u32 * u64::BITS + rest
            }
        };
        (first < ranks).then_some(first)
    }
}

/// The number of words of 64 bits for the ranks. A run is as large as a word.
fn words(ranks: u32) -> usize {
    ranks.div_ceil(u64::BITS) as usize
}

fn bits(set: &Ranks, ranks: u32) -> Vec<u64> {
    let runs = match set {
        Ranks::Bits(bits) => return bits.clone(),
        Ranks::Runs(runs) => runs,
    };
    let mut bits = vec![0; words(ranks)];
    for &(first, last) in runs {
        let (low, high) = ((first / u64::BITS) as usize, (last / u64::BITS) as usize);
        let from = u64::MAX << (first % u64::BITS);
        let to = u64::MAX >> (u64::BITS - 1 - last % u64::BITS);
        if low == high {
            bits[low] |= from & to;
        } else {
            bits[low] |= from;
            bits[low + 1..high].fill(u64::MAX);
            bits[high] |= to;
        }
    }
    bits
}

fn merged(a: &[(u32, u32)], b: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut out: Vec<(u32, u32)> = Vec::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a.iter().copied().peekable(), b.iter().copied().peekable());
    loop {
        let next = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) if x <= y => a.next(),
            (_, Some(_)) => b.next(),
            _ => a.next(),
        };
        let Some((first, last)) = next else { return out };
        match out.last_mut() {
            Some(before) if before.1.saturating_add(1) >= first => before.1 = before.1.max(last),
            _ => out.push((first, last)),
        }
    }
}
