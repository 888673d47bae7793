//! The options of pictures.

use crate::error::DrawError;
use std::fmt;
use std::str::FromStr;

/// The options of a picture.
#[derive(Debug, Clone)]
pub struct Options {
    /// The ranks that are drawn. `None` stands for all.
    pub ranks: Option<RankSet>,
    /// True to draw all dependencies.
    pub dependencies: bool,
    /// True to mark the longest chain.
    pub critical_path: bool,
    /// The size in bytes up to which a message leaves before its receive is posted.
    pub eager_limit: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            ranks: None,
            dependencies: false,
            critical_path: true,
            eager_limit: goal_lang::limits::EAGER_LIMIT,
        }
    }
}

/// A set of ranks, as `0-7,12` in text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankSet(Vec<[u32; 2]>);

impl RankSet {
    /// Returns the ranks that are drawn, ascending, of a program with `count` ranks.
    ///
    /// # Errors
    /// If a rank is not there.
    pub(crate) fn select(ranks: Option<&Self>, count: u32) -> Result<Vec<u32>, DrawError> {
        let Some(Self(ranges)) = ranks else { return Ok((0..count).collect()) };
        if let Some(&[_, rank]) = ranges.iter().find(|range| range[1] >= count) {
            return Err(DrawError::NoRank { rank, last: count.saturating_sub(1) });
        }
        let mut all: Vec<u32> = ranges.iter().flat_map(|&[first, last]| first..=last).collect();
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }
}

/// The fault of a text that should be ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("give ranks as 3, 0-7 or 0-7,12")]
pub struct RankSetError;

impl FromStr for RankSet {
    type Err = RankSetError;

    fn from_str(text: &str) -> Result<Self, RankSetError> {
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number = |text: &str| text.parse().map_err(|_| RankSetError);
            let [first, last] = [number(first)?, number(last)?];
            if first <= last { Ok([first, last]) } else { Err(RankSetError) }
        };
        text.split(',').map(range).collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for RankSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, [first, last]) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            match first == last {
                true => write!(f, "{comma}{first}")?,
                false => write!(f, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}
