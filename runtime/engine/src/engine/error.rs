//! The failures that stop an engine.

use serde::{Deserialize, Serialize};
use std::fmt;

/// An action that cannot be executed. The job must end: peers may wait for a message that will
/// never be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Communicator of the instance.
    pub communicator: u64,
    /// The number of the instance in the communicator.
    pub instance: u32,
    /// Offset of the action in its section.
    pub action: u32,
    /// The number of the action in its section, from 0; `None` if it is not known.
    pub number: Option<u64>,
    /// The cause of the failure.
    pub cause: Cause,
}

/// The cause of an action's failure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum Cause {
    /// A receive matched a message of another size.
    #[error(
        "receives {received} bytes, but the message from rank {source_rank} with tag {tag} has {sent}; make both sizes the same"
    )]
    SizeMismatch {
        /// Rank that sent the message.
        source_rank: u32,
        /// Offset of the send in that rank's section.
        source_action: u32,
        /// Tag of the message.
        tag: u32,
        /// Bytes of the message.
        sent: u64,
        /// Bytes that the receive names.
        received: u64,
    },
    /// A message without an address arrived with other bytes than were sent.
    #[error(
        "byte {offset} of message {sequence} from rank {source_rank} with tag {tag} is not what was sent: the transport lost or changed data"
    )]
    PatternMismatch {
        /// Rank that sent the message.
        source_rank: u32,
        /// Tag of the message.
        tag: u32,
        /// Number of the message among those of the instance between the two ranks.
        sequence: u32,
        /// First byte that differs.
        offset: u64,
    },
    /// An integer was to be divided by zero.
    #[error("element {element} is divided by zero")]
    DivisionByZero {
        /// The element, from 0.
        element: u64,
    },
    /// No function is registered under the number that the action calls.
    #[error(
        "no function is registered as user {0}; the embedding program must register it before the start"
    )]
    UnknownUserFunction(u32),
    /// A rank sent a message that no engine sends. Its host is not the one that was started, or its
    /// program was changed.
    #[error(
        "rank {source_rank} sent {fault}, which no rank of a job sends; the job ends, as nothing it says can be believed"
    )]
    Foreign {
        /// The rank that sent the message.
        source_rank: u32,
        /// The fault in the message.
        fault: Fault,
    },
    /// The rest of the schedule can't be read.
    #[error("{0}")]
    Schedule(String),
}

/// The fault in a message that does not fit the messages before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum Fault {
    /// A part of a message whose envelope has not arrived.
    #[error("a part of a message without the envelope before it")]
    Part,
    /// An envelope that arrived before all parts of the previous message.
    #[error("an envelope before all parts of the message before it")]
    Envelope,
    /// More bytes of a message than its envelope says.
    #[error("{end} bytes of a message of {size}")]
    TooLong {
        /// Bytes that arrived.
        end: u64,
        /// Bytes of the message.
        size: u64,
    },
    /// Bytes of a message that was not announced, not asked for, or is complete.
    #[error("bytes of message {0}, which it was not asked for")]
    Data(u32),
    /// Bytes of a message at another offset than the next one.
    #[error("bytes from {offset} on of a message of which {arrived} have come")]
    Place {
        /// The offset of the bytes in the message.
        offset: u64,
        /// The bytes of the message that had arrived.
        arrived: u64,
    },
    /// Bytes for a receive with an operation that end within an element.
    #[error("{len} bytes from {offset} on for an operation on elements of {width} bytes")]
    Elements {
        /// The offset of the bytes in the message.
        offset: u64,
        /// Bytes that arrived.
        len: usize,
        /// Bytes of an element.
        width: u64,
    },
    /// An answer to a message that was not announced to this rank, is already being sent, or is
    /// complete.
    #[error("an answer to message {0}, which does not wait for one")]
    Answer(u32),
    /// More waiting requests than the rank can have sends under way.
    #[error(
        "more than {most} requests that wait for their receives, and can't have more sends under way"
    )]
    Requests {
        /// The most requests that the rank can have.
        most: u32,
    },
    /// More waiting requests than this rank keeps for any rank of a program.
    #[error(
        "more than {most} requests that wait for their receives (let it wait for some of its sends, or raise `--unexpected-limit`)"
    )]
    RequestsKept {
        /// The most requests that are kept.
        most: u32,
    },
    /// An answer that claims more bytes of a message than it has.
    #[error("that it has {has} bytes of a message of {size}")]
    Has {
        /// The bytes that the answer claims to have.
        has: u64,
        /// Bytes of the message.
        size: u64,
    },
}

impl Failure {
    /// The advice at the end of the text about a message of another size than its receive.
    pub const SIZES_ADVICE: &str = "; make both sizes the same";
}

/// Names the action and the cause: `recv number 3 from rank 0, tag 5, has 4 bytes, but its message
/// has 16`.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.number, &self.cause) {
            (Some(number), &Cause::SizeMismatch { source_rank, tag, sent, received, .. }) => {
                write!(
                    f,
                    "recv number {number} from rank {source_rank}, tag {tag}, has {received} bytes, but its message has {sent}{}",
                    Self::SIZES_ADVICE
                )
            }
            (Some(number), cause) => write!(f, "action number {number}: {cause}"),
            (None, cause) => write!(f, "action at offset {}: {cause}", self.action),
        }
    }
}

impl std::error::Error for Failure {}
