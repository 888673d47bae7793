//! The limits of the protocol. Those of the wire are part of its format.

/// The longest payload of a frame in bytes: a little more than a jumbo frame of 9000 bytes has room
/// for.
pub const PAYLOAD_MAX: usize = 9216;

/// The shortest limit in bytes that a peer may set for payloads: the longest request fits.
pub const PAYLOAD_MIN: usize = 8 * RANGES_MAX;

/// The most ranges of packets in one request.
pub const RANGES_MAX: usize = 32;

/// The most runs of ports in one answer of a host: it fits into the shortest payload that a peer
/// may limit itself to.
pub const PORT_RUNS_MAX: usize = 24;

/// The most packets in flight without an acknowledgement: half of the range of a window, so that no
/// packet in it can be mistaken for one behind it.
pub const WINDOW_MAX: u16 = 1 << 15;
