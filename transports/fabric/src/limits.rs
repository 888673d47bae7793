//! The limits of chunks and of the room for messages.

/// The longest payload in bytes of a chunk with a whole message, which is sent before its receive
/// is posted (thesis 4.2.2).
pub(crate) const CHUNK_BYTES_MAX: u32 = 128 << 10;

/// The longest part of a message in bytes. Transports handle parts piece by piece.
pub const PART_BYTES_MAX: u32 = 512 << 10;

/// The length in bytes of the longest element that a receiver may combine piece by piece: a reader
/// cuts parts of messages only between such elements.
pub const ELEMENT_BYTES_MAX: usize = goal_engine::ELEMENT_BYTES_MAX as usize;

/// The largest share of a receiver's room, in bytes, that one sender gets. A sender gets a new
/// share when half of its share is used, so a larger share would not make the sender faster.
/// Without this limit all shares would change whenever a rank connects, and every sender would have
/// to be told.
pub(crate) const SHARE_MAX: u64 = 256 << 10;
