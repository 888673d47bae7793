//! The errors of a stream from a rank: its bytes are not valid messages of that rank.

use crate::Overrun;
use crate::message::Broken;
use goal_lang::ANY;

/// The reason why the bytes of a stream are not messages of the rank that sends it. After that, no
/// more messages are exchanged with this rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StreamFault {
    /// The bytes that arrived are no stream of messages.
    #[error("what it sent is no stream of messages: {0}")]
    Stream(Broken),
    /// A message names another sender or receiver, or is of a kind that no message has.
    #[error("it sent a message of another rank, or for another one")]
    Rank,
    /// A message names a communicator that the job does not have.
    #[error("it sent a message in communicator {0}, which the job does not have")]
    Communicator(u64),
    /// The tag of a message is [`ANY`], which only a receive may name.
    #[error("it sent a message with tag {ANY}, which only a receive of any tag names")]
    Tag,
    /// An envelope announces parts, but its message has no bytes and therefore no parts.
    #[error("it sent the envelope of a message in parts that has no bytes")]
    Empty,
    /// The rank sent more bytes than it was granted.
    #[error("it sent {0}")]
    Overrun(Overrun),
}
