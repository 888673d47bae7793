//! A message of a linked schedule.

use goal_lang::Piece;

/// A message that a rank writes or reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Message {
    /// The number of the action in its section.
    pub(super) number: u32,
    /// The other rank.
    pub(super) peer: u32,
    pub(super) tag: u32,
    /// The number of earlier messages with the rank and the tag of this one.
    pub(super) turn: u32,
    pub(super) bytes: u32,
    /// The bytes in the rank's memory.
    pub(super) piece: Piece,
    /// True if the message waits for no action. Such messages of the same bytes are equal.
    pub(super) is_first: bool,
}
