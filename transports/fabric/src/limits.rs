//! The limits of chunks and of the room for messages.

/// The longest payload of a chunk in bytes, and of a message that is sent before its receive is
/// posted (thesis 4.2.2).
pub(crate) const CHUNK_BYTES_MAX: u32 = 128 << 10;

/// The longest part of a message in bytes. Transports handle parts piece by piece.
pub const PART_BYTES_MAX: u32 = 512 << 10;

/// The length in bytes of the longest element that a receiver may combine piece by piece: a reader
/// cuts parts of messages only between such elements.
pub const ELEMENT_BYTES_MAX: usize = goal_engine::ELEMENT_BYTES_MAX as usize;

/// The largest share of a rank's room in bytes. A rank gets a new share when half of it is used, so
/// a larger one would not make it faster. Shares without this limit would change whenever a rank
/// connects, and all ranks would have to be told.
pub(crate) const SHARE_MAX: u64 = 256 << 10;
