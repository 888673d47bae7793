//! The limits of connections.

/// The most bytes of payload that a message has in one piece. A longer one is sent in parts.
pub const MESSAGE_MAX: usize = 16 << 10;

/// The most bytes of a part of a longer message.
pub(crate) const PART_MAX: usize = 64 << 10;

/// The bytes that may wait to be sent on a connection. A message that does not fit waits in the
/// engine.
pub(crate) const UNSENT_MAX: usize = 256 << 10;

/// The bytes that are read at a time.
pub(crate) const READ_MAX: usize = 256 << 10;

/// The most connections that have not proved the key. If another one comes, the oldest is closed.
pub(crate) const STRANGERS_MAX: usize = 64;

/// The time in which a connection must prove the key, from its beginning on.
pub(crate) const HANDSHAKE_NS: u64 = 5_000_000_000;

/// The time between two attempts to connect, and the time for which a rank is tried. Its host may
/// be slower to start.
pub(crate) const RETRY_NS: u64 = 20_000_000;
pub(crate) const CONNECT_NS: u64 = 10_000_000_000;

/// The connections that wait to be accepted.
pub(crate) const BACKLOG: i32 = 4096;

/// The events that are taken from the kernel at a time.
pub(crate) const EVENTS_MAX: usize = 64;

/// The polls in a row that look only at the connection that was read last.
pub(crate) const HOT_POLLS: u32 = 8;

/// The time after which a connection whose peer acknowledges nothing is lost.
pub(crate) const SILENCE_MS: u32 = 10_000;

/// The silence on a connection after which the peer is asked for a sign of life, the time between
/// two questions, and their number, so that a host that vanished is noticed within
/// [`SILENCE_MS`].
pub(crate) const KEEPALIVE_IDLE_S: u64 = 4;
pub(crate) const KEEPALIVE_INTERVAL_S: u64 = 2;
pub(crate) const KEEPALIVE_PROBES: u32 = 3;

/// The buffers of sent connections that are kept for others.
pub(crate) const SPARE_MAX: usize = 16;
