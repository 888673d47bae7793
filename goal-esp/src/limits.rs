//! Limits of the protocol, in one place. Those of the wire are part of its format.

/// Longest payload of a frame in bytes: what a jumbo frame of 9000 bytes has room for, and a little
/// more.
pub const PAYLOAD_MAX: usize = 9216;

/// Shortest payload in bytes that a peer may limit itself to: the longest request fits.
pub const PAYLOAD_MIN: usize = 8 * RANGES_MAX;

/// Most ranges of packets that one request names.
pub const RANGES_MAX: usize = 32;

/// Most runs of ports in one answer of a host: it fits wherever the shortest payload that a peer
/// may limit itself to does.
pub const PORT_RUNS_MAX: usize = 24;

/// Most packets that may be on their way without an acknowledgement: half of what a window counts,
/// so that a packet of the window is never mistaken for one behind it.
pub const WINDOW_MAX: u16 = 1 << 15;

/// Longest payload of a chunk in bytes, and of a message that is sent before its receive is there
/// (thesis 4.2.2).
pub const CHUNK_BYTES_MAX: u32 = 128 << 10;

/// Bytes of the longest element that a receiver may combine piece by piece: a reader cuts parts of
/// messages between such elements only.
pub const ELEMENT_BYTES_MAX: usize = 8;
