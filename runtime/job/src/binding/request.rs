//! Reads a user's request for the binding of ranks, and lists of processors.

use crate::limits::{LISTED_PROCESSORS_MAX, PROCESSORS_MAX};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write};
use std::str::FromStr;

/// The request for the processors of ranks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Bind {
    /// Each rank is bound to a core of its own that no other job holds. If there are too few cores,
    /// ranks are not bound.
    #[default]
    Core,
    /// Ranks are not bound: the system moves them.
    None,
    /// Ranks stay on the processors to which the launcher that started them has bound them.
    Bound {
        /// The number of different processors.
        processors: u32,
    },
    /// Each rank of this host is bound to the processor at its place in this list. Ranks share a
    /// processor that is listed several times.
    List(Vec<u32>),
}

/// A text that does not say how ranks are bound.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BindError {
    /// The text is neither a word nor a list.
    #[error("give core, none, or the processors of ranks in their order, such as 0,2-5")]
    Text,
    /// A range ends below its beginning.
    #[error("{first}-{last} goes down: give the smaller number first, or single numbers")]
    Down {
        /// The first number of the range.
        first: u32,
        /// The last number of the range.
        last: u32,
    },
    /// A number is too large for a processor.
    #[error("{0} is no processor: their numbers are below {PROCESSORS_MAX}")]
    TooLarge(String),
    /// The list is too long.
    #[error("the list has more than {LISTED_PROCESSORS_MAX} entries")]
    TooLong,
}

impl FromStr for Bind {
    type Err = BindError;

    fn from_str(text: &str) -> Result<Self, BindError> {
        match text {
            "core" => Ok(Bind::Core),
            "none" => Ok(Bind::None),
            list => parse(list).map(Bind::List),
        }
    }
}

/// Writes the request as a command line states it.
impl fmt::Display for Bind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bind::Core => f.write_str("core"),
            Bind::None => f.write_str("none"),
            Bind::Bound { .. } => f.write_str("bound"),
            Bind::List(processors) => f.write_str(&list(processors)),
        }
    }
}

/// Reads a list of processors, such as `0,2-5`. Numbers may occur several times.
pub(super) fn parse(text: &str) -> Result<Vec<u32>, BindError> {
    let number = |text: &str| {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(BindError::Text);
        }
        let number = text.parse().ok().filter(|&number: &u32| number < PROCESSORS_MAX);
        number.ok_or_else(|| BindError::TooLarge(text.to_string()))
    };
    let mut list = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(BindError::Down { first, last });
        }
        list.extend(first..=last);
        if list.len() > LISTED_PROCESSORS_MAX {
            return Err(BindError::TooLong);
        }
    }
    Ok(list)
}

/// Returns processors as text, in their order, with ranges for numbers that follow each other.
pub fn list(processors: &[u32]) -> String {
    let mut text = String::new();
    for run in processors.chunk_by(|before, after| before.checked_add(1) == Some(*after)) {
        let comma = if text.is_empty() { "" } else { "," };
        let _ = match *run {
            [first, .., last] => write!(text, "{comma}{first}-{last}"),
            _ => write!(text, "{comma}{}", run[0]),
        };
    }
    text
}
