//! The limits of the protocol. Limits of the bytes on the wire are part of the wire format.

/// The longest payload of a frame in bytes: a little more than a jumbo frame of 9000 bytes has room
/// for.
pub const PAYLOAD_MAX: usize = 9216;

/// The lowest limit in bytes that a peer may set for payloads. The longest request fits into it.
pub const PAYLOAD_MIN: usize = 8 * RANGES_MAX;

/// The most ranges of packets in one request.
pub const RANGES_MAX: usize = 32;

/// The most runs of ports in one answer of a host. Such an answer fits into [`PAYLOAD_MIN`] bytes.
pub const PORT_RUNS_MAX: usize = 24;

/// The most packets in flight without an acknowledgement: half of the range of a window. So no
/// packet in the window can be mistaken for a packet behind it.
pub const WINDOW_MAX: u16 = 1 << 15;
