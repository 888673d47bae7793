//! Sets of ranks on the command line: `0`, `4-7`, `0,4-7`.

use std::str::FromStr;

/// A set of ranks. It has at most as many ranges as its text has bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ranks {
    /// First and last ranks, in order, without overlaps.
    ranges: Vec<(u32, u32)>,
}

impl Ranks {
    pub(crate) fn contains(&self, rank: u32) -> bool {
        let next = self.ranges.partition_point(|&(first, _)| first <= rank);
        next > 0 && rank <= self.ranges[next - 1].1
    }

    /// Returns the highest rank.
    pub(crate) fn last(&self) -> u32 {
        self.ranges.last().map_or(0, |range| range.1)
    }
}

impl FromStr for Ranks {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rank = |digits: &str| {
            let parsed = digits.parse().ok().filter(|_| !digits.starts_with('+'));
            parsed.ok_or_else(|| format!("`{digits}` is no rank; ranks are given as 0,4-7"))
        };
        let mut parts = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (rank(first)?, rank(last)?);
            if first > last {
                return Err(format!("`{part}` has no ranks: the second is lower than the first"));
            }
            parts.push((first, last));
        }
        parts.sort_unstable();
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for (first, last) in parts {
            match ranges.last_mut() {
                Some(range) if first <= range.1 => range.1 = range.1.max(last),
                _ => ranges.push((first, last)),
            }
        }
        Ok(Self { ranges })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_what_its_text_lists() {
        let ranks: Ranks = "9,0-2,4,1-3,4294967295".parse().unwrap();
        let listed: Vec<u32> = (0..20).filter(|&rank| ranks.contains(rank)).collect();
        assert_eq!(listed, [0, 1, 2, 3, 4, 9]);
        assert!(ranks.contains(u32::MAX) && !ranks.contains(u32::MAX - 1));
        assert_eq!(ranks.last(), u32::MAX);
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "-", "1-", "-1", "+1", "1,", "a", "1-2-3", "4294967296", "5-3", " 1"] {
            assert!(text.parse::<Ranks>().is_err(), "{text:?}");
        }
    }
}
