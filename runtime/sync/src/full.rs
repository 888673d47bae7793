//! The error of a mailbox or a ring without room.

/// There is no room for the message now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;
