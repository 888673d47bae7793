//! Sets of small numbers that find their largest element fast.

/// A set of numbers below a bound: a tree of bits. The first level has a bit for each number; each
/// further level has a bit for each word of the level below that is not 0.
#[derive(Debug, Default)]
pub(crate) struct Marks(Vec<Vec<u64>>);

impl Marks {
    /// The empty set of numbers below `count`.
    pub(crate) fn new(count: usize) -> Self {
        let mut levels = Vec::new();
        let mut bits = count;
        while levels.is_empty() || bits > 1 {
            bits = bits.div_ceil(64);
            levels.push(vec![0; bits]);
        }
        Self(levels)
    }

    pub(crate) fn contains(&self, number: usize) -> bool {
        self.0[0][number / 64] >> (number % 64) & 1 != 0
    }

    pub(crate) fn insert(&mut self, mut number: usize) {
        for level in &mut self.0 {
            level[number / 64] |= 1 << (number % 64);
            number /= 64;
        }
    }

    pub(crate) fn remove(&mut self, mut number: usize) {
        for level in &mut self.0 {
            level[number / 64] &= !(1 << (number % 64));
            if level[number / 64] != 0 {
                break;
            }
            number /= 64;
        }
    }

    /// The largest element that is not above `number`.
    pub(crate) fn last_up_to(&self, mut number: usize) -> Option<usize> {
        for (height, level) in self.0.iter().enumerate() {
            let word = level[number / 64] & (u64::MAX >> (63 - number % 64));
            if word != 0 {
                let last = number / 64 * 64 + word.ilog2() as usize;
                let below = self.0[..height].iter().rev();
                return Some(
                    below.fold(last, |last, level| last * 64 + level[last].ilog2() as usize),
                );
            }
            number = (number / 64).checked_sub(1)?;
        }
        None
    }
}

#[cfg(test)]
mod tests;
