//! Why an engine gives up.

use std::fmt;

/// An action that cannot be executed. The job cannot go on: peers may wait for what will not come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Communicator of the instance.
    pub communicator: u32,
    /// Number of the instance in it.
    pub instance: u32,
    /// Offset of the action in its section.
    pub action: u32,
    /// Where the instance is run through a window: the number of the action in its section, from 0, if it was reached.
    pub number: Option<u64>,
    /// What is wrong with it.
    pub cause: Cause,
}

/// What is wrong with an action.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
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
    /// No such function was registered.
    #[error("no function is registered as user {0}; the embedding program must register it before the start")]
    UnknownUserFunction(u32),
    /// The schedule can't be read on.
    #[error("{0}")]
    Schedule(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "action at offset {}: {}", self.action, self.cause)
    }
}

impl std::error::Error for Failure {}
