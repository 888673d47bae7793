//! Ranks and positions as a command line lists them.
//!
//! A list may name more ranks than there are, so it holds ranges and is compared with the program
//! before it is expanded.

use goal_lang::diag::quote;
use goal_lang::limits::RANK_MAX;
use std::fmt;
use std::ops::{Range, RangeInclusive};
use std::str::FromStr;

/// Ranks in the order in which they are listed: `0-63,128`. A list has at least one rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankList(Vec<RangeInclusive<u32>>);

/// Positions of actions: `A..B`, from A on and before B. Either may be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window(pub Range<u64>);

/// The reason why a text names no ranks or positions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NumbersError {
    /// An entry is no rank and no range of ranks.
    #[error("{0} is no rank and no range of ranks: give a list such as 0-63,128")]
    Ranks(String),
    /// The ends of a range are in the wrong order.
    #[error("the range {0}-{1} is empty: give the lower rank first")]
    Reversed(u32, u32),
    /// The text is no window.
    #[error("{0} is no window: give A..B, A.. or ..B with numbers A < B")]
    Window(String),
}

impl FromStr for RankList {
    type Err = NumbersError;

    fn from_str(text: &str) -> Result<Self, NumbersError> {
        let wrong = |entry: &str| NumbersError::Ranks(quote(entry.trim().as_bytes()));
        let ranges = text.split(',').map(|entry| {
            let number = |text: &str| match text.trim().parse() {
                Ok(rank) if rank <= RANK_MAX => Ok(rank),
                _ => Err(wrong(entry)),
            };
            let (first, last) = entry.split_once('-').unwrap_or((entry, entry));
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return Err(NumbersError::Reversed(first, last));
            }
            Ok(first..=last)
        });
        Ok(Self(ranges.collect::<Result<_, _>>()?))
    }
}

impl RankList {
    /// Returns the ranks from `first` on, `count` of them.
    ///
    /// # Panics
    /// If `count` is 0, or if a rank has more than 32 bits.
    pub(super) fn consecutive(first: u32, count: u32) -> Self {
        Self(vec![first..=first + (count - 1)])
    }

    /// Returns the number of ranks, each counted as often as it is listed.
    pub(super) fn len(&self) -> u64 {
        self.0.iter().map(|range| u64::from(range.end() - range.start()) + 1).sum()
    }

    /// Returns the highest rank.
    pub(super) fn highest(&self) -> u32 {
        self.0.iter().map(|range| *range.end()).max().unwrap_or(0)
    }

    /// Returns a rank that is listed twice.
    pub(super) fn repeated(&self) -> Option<u32> {
        let mut sorted = self.0.clone();
        sorted.sort_unstable_by_key(|range| *range.start());
        let twice = |pair: &&[RangeInclusive<u32>]| pair[1].start() <= pair[0].end();
        sorted.windows(2).find(twice).map(|pair| *pair[1].start())
    }

    /// Returns the ranks in their order.
    pub(super) fn ranks(&self) -> impl Iterator<Item = u32> {
        self.0.iter().cloned().flatten()
    }

    /// Adds a list behind this one.
    pub(super) fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

impl fmt::Display for RankList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, range) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            match range.start() == range.end() {
                true => write!(f, "{comma}{}", range.start())?,
                false => write!(f, "{comma}{}-{}", range.start(), range.end())?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.end {
            u64::MAX => write!(f, "{}..", self.0.start),
            end => write!(f, "{}..{end}", self.0.start),
        }
    }
}

impl FromStr for Window {
    type Err = NumbersError;

    fn from_str(text: &str) -> Result<Self, NumbersError> {
        let wrong = || NumbersError::Window(quote(text.as_bytes()));
        let (first, end) = text.split_once("..").ok_or_else(wrong)?;
        let number = |text: &str, missing| match text.trim() {
            "" => Ok(missing),
            number => number.parse().map_err(|_| wrong()),
        };
        let window = number(first, 0)?..number(end, u64::MAX)?;
        if window.is_empty() { Err(wrong()) } else { Ok(Self(window)) }
    }
}
