//! The error of a mailbox or a ring without room.

/// The error of a message for which a mailbox or a ring has no room now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;
