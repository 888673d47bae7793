//! The limits of connections.

use goal_fabric::limits::PART_BYTES_MAX;

/// The most bytes of payload that a message has in one piece. A longer one is sent in parts.
pub const MESSAGE_MAX: usize = 16 << 10;

/// The most bytes of a part of a longer message that is copied before it is sent.
pub(crate) const PART_MAX: usize = 64 << 10;

/// The most bytes of a part that is sent in place. In loopback tests parts of 512 KiB took 0.65 of
/// the time of parts of 64 KiB. Longer parts took longer: while one call sends, the
/// acknowledgements of its first bytes have to wait.
pub(crate) const PART_ZCOPY_MAX: usize = PART_BYTES_MAX as usize;

/// Payloads of at least this many bytes are sent from where they lie, if they lie in one piece.
/// Shorter ones are copied, so that one system call sends several messages.
pub(crate) const ZCOPY_MIN: usize = 8 << 10;

/// The bytes that may wait to be sent on a connection. A message that does not fit waits in the
/// engine. The end of one part that was to be sent from where it lies may wait beyond them.
pub(crate) const UNSENT_MAX: usize = 256 << 10;

/// The bytes that are read at a time.
pub(crate) const READ_MAX: usize = 256 << 10;

/// The bytes that are read into the fabric's buffer at a time where a long message is expected.
/// With the header of a part come the first bytes of its payload; the others are read into the
/// buffer of the receive.
pub(crate) const READ_AHEAD: usize = 4 << 10;

/// The most pending connections, which have not proved the key yet. If another one comes, the
/// oldest is closed.
pub(crate) const CALLERS_MAX: usize = 64;

/// The time in which a connection must prove the key, from its beginning on.
pub(crate) const HANDSHAKE_NS: u64 = 5_000_000_000;

/// The reads of connections after which the system is asked about all sockets, if it was not asked
/// before.
pub(crate) const READS_PER_LOOK: u32 = 16;

/// The time between two attempts to connect.
pub(crate) const RETRY_NS: u64 = 20_000_000;

/// The time for which an attempt whose host is there waits for the rank to answer. It is long,
/// because the rank may compute without polling, or be stopped by a debugger.
pub(crate) const WELCOME_NS: u64 = 300_000_000_000;

/// If an attempt fails whose handshake lasted longer, the host of the rank was there until now. So
/// the time after which the rank counts as unreachable is counted from this failure on.
pub(crate) const OPEN_NS: u64 = 1_000_000_000;

/// The most such failed attempts that start the time anew. A rank that computes closes no
/// connection. So if a connection is closed again and again, something on the path holds back the
/// bytes of the two ranks.
pub(crate) const CLOSED_MAX: u32 = 3;

/// The time without accepting after there was no descriptor for a connection.
pub(crate) const PAUSE_NS: u64 = 100_000_000;

/// The most failed connections that are passed over when one is accepted.
pub(crate) const FAILED_MAX: u32 = 64;

/// The seconds for which the system holds back a connection that has sent nothing.
pub(crate) static DEFER_S: libc::c_int = 1;

/// The connections that wait to be accepted.
pub(crate) const BACKLOG: i32 = 4096;

/// The events that are taken from the kernel at a time.
pub(crate) const EVENTS_MAX: usize = 64;

/// The forecasts in a row that came true after which the next one counts as sure.
pub(crate) const FORECASTS_SURE: u32 = 8;

/// The looks at the connection of a sure forecast before the system is asked about all.
pub(crate) const LOOKS_SURE: u32 = 64;

/// The seconds of silence after which a host is lost, by default. 1 is the least.
pub const SILENCE_S: u32 = 10;

/// The least silence that counts. A host answers at most two questions for room a second, so one
/// may have no answer, and the next comes up to a second later (`tcp_invalid_ratelimit`).
pub(crate) const UNANSWERED_NS_MAX: u64 = 1_250_000_000;

/// The looks at open connections in the time after which a silent host is lost.
pub(crate) const LOOKS: u64 = 8;

/// The time between the loss of a rank and the report of it. Its launcher may know the reason, and
/// ends the job with it within this time.
pub(crate) const REPORT_NS: u64 = 500_000_000;

/// The buffers of sent connections that are kept for others.
pub(crate) const SPARE_MAX: usize = 16;
