//! Reads a user's request for the binding of ranks, and reads and writes lists of processors.

use crate::limits::{LISTED_PROCESSORS_MAX, PROCESSORS_MAX};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write};
use std::str::FromStr;

/// The request that states to which processors ranks are bound.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Bind {
    /// Each rank is bound to a core of its own that no other job has claimed. If there are too few
    /// cores, ranks are not bound.
    #[default]
    Core,
    /// Ranks are not bound, and the system moves them.
    None,
    /// Ranks keep the processors to which another launcher, which started them, has bound them.
    Bound {
        /// The number of different processors to which the ranks are bound.
        processors: u32,
    },
    /// The ranks of this host are bound to these processors, in their order. If a processor is
    /// listed several times, ranks share it.
    List(Vec<u32>),
}

/// The reason why a text is not a valid [`Bind`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BindError {
    /// The text is neither a word nor a list.
    #[error("give core, none, or the processors of ranks in their order, such as 0,2-5")]
    Text,
    /// A range ends with a smaller number than it begins with.
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

/// Writes the request in the form of the command line.
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

/// Returns processors as a text such as `0,2-5`, in their order. Consecutive numbers become a
/// range.
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
