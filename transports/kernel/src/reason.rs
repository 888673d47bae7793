//! The reasons why the kernel can't execute an action. The rank's process must then execute it.

use crate::limits::{ACTIONS_MAX, DEPENDENTS_MAX, PART_BYTES, PEERS_MAX};
use std::fmt;

/// A reason why an action, or a rank's whole part, must be executed by the rank's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The action calls a function of the program.
    UserFunction,
    /// The message has more bytes than a part.
    LongMessage {
        /// The bytes of the message.
        bytes: u64,
        /// The most bytes of a message.
        bytes_max: u64,
    },
    /// No receive takes the message.
    NoReceive,
    /// The receive has another size than its message.
    OtherSize {
        /// The bytes of the send.
        sent: u64,
        /// The bytes of the receive.
        received: u64,
    },
    /// The action never ends: it waits for a message that nobody sends, or that another receive
    /// took.
    Stuck,
    /// The rank's part has too many actions.
    ManyActions(u64),
    /// The rank's part has too many dependencies.
    ManyDependents(u64),
    /// The rank's part needs too much memory.
    ManyBytes(u64),
    /// The job has too many ranks.
    ManyRanks(u32),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Reason::UserFunction => f.write_str("the function is the program's"),
            Reason::LongMessage { bytes, bytes_max } => {
                write!(f, "the message has {bytes} bytes; a rank's part has at most {bytes_max}")
            }
            Reason::NoReceive => f.write_str("no receive takes the message"),
            Reason::OtherSize { sent, received } => {
                write!(f, "the message has {sent} bytes, its receive {received}")
            }
            Reason::Stuck => f.write_str(
                "the action never ends: ranks wait for each other, or for a message that nobody sends (goalc check says which)",
            ),
            Reason::ManyActions(count) => {
                write!(f, "the part has {count} actions; the most is {ACTIONS_MAX}")
            }
            Reason::ManyDependents(count) => {
                write!(f, "the part has {count} dependencies; the most is {DEPENDENTS_MAX}")
            }
            Reason::ManyBytes(bytes) => write!(
                f,
                "the part's memory and messages take {bytes} bytes; the most is {PART_BYTES}"
            ),
            Reason::ManyRanks(ranks) => {
                write!(f, "the job has {ranks} ranks; the most is {PEERS_MAX}")
            }
        }
    }
}

/// An action that the kernel cannot execute, with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActionRefusal {
    /// The rank.
    pub rank: u32,
    /// The number of the action in the rank's section, from 0; `None` for the part as a whole.
    pub action: Option<u32>,
    /// The line of the action in its source, if it is known.
    pub line: Option<u32>,
    /// The reason.
    pub reason: Reason,
}

impl fmt::Display for ActionRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {}", self.rank)?;
        if let Some(action) = self.action {
            write!(f, ", action {action}")?;
        }
        if let Some(line) = self.line {
            write!(f, " (line {line})")?;
        }
        write!(f, ": {}", self.reason)
    }
}

/// The most actions that a text names; it only counts further ones.
const NAMED_MAX: usize = 3;

/// Returns a text that names the first actions which the kernel can't execute.
pub fn in_words(refusals: &[ActionRefusal]) -> String {
    let named = refusals.iter().take(NAMED_MAX).map(ToString::to_string);
    let mut text = named.collect::<Vec<_>>().join("; ");
    if refusals.len() > NAMED_MAX {
        text.push_str(&format!("; and {} more", refusals.len() - NAMED_MAX));
    }
    text
}
