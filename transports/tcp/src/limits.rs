//! The limits of connections.

use goal_fabric::limits::PART_BYTES_MAX;

/// The most bytes of payload that a message has in one piece. A longer message is sent in parts.
pub const MESSAGE_MAX: usize = 16 << 10;

/// The most bytes of a part that is copied before it is sent. A part is a piece of a message with
/// more than [`MESSAGE_MAX`] bytes.
pub(crate) const PART_MAX: usize = 64 << 10;

/// The most bytes of a part that is sent from the caller's memory, without a copy. In loopback
/// tests parts of 512 KiB took 0.65 of the time of parts of 64 KiB. Longer parts took longer: while
/// one call sends, the acknowledgements of its first bytes have to wait.
pub(crate) const PART_ZCOPY_MAX: usize = PART_BYTES_MAX as usize;

/// Payloads of at least this many bytes are sent from where they lie, if they lie in one piece.
/// Shorter ones are copied, so that one system call sends several messages.
pub(crate) const ZCOPY_MIN: usize = 8 << 10;

/// The most bytes that may wait to be sent on a connection. A message that does not fit waits in
/// the engine. The unsent end of one part that was to be sent without a copy may wait beyond it.
pub(crate) const UNSENT_MAX: usize = 256 << 10;

/// The most bytes that one read of a connection takes.
pub(crate) const READ_MAX: usize = 256 << 10;

/// The most bytes that one read takes into the fabric's buffer if a long message is expected. They
/// are the header of a part and the first bytes of its payload. The other bytes are read into the
/// buffer of the receive.
pub(crate) const READ_AHEAD: usize = 4 << 10;

/// The most pending connections, which have not proved the key yet. If another connection comes,
/// the oldest is closed.
pub(crate) const CALLERS_MAX: usize = 64;

/// The time in nanoseconds within which an accepted connection must prove the key.
pub(crate) const HANDSHAKE_NS: u64 = 5_000_000_000;

/// The number of reads after which the system is asked about all sockets, if it was not asked
/// before.
pub(crate) const READS_PER_LOOK: u32 = 16;

/// The time in nanoseconds between two attempts to connect.
pub(crate) const RETRY_NS: u64 = 20_000_000;

/// The time in nanoseconds that a handshake waits for the other rank, once that rank's host is
/// known to be there. It is long, because the rank may compute without polling, or be stopped by a
/// debugger.
pub(crate) const WELCOME_NS: u64 = 300_000_000_000;

/// The duration of a handshake, in nanoseconds, which shows that the rank's host was there until
/// now. If a longer handshake fails, the time until the rank counts as unreachable starts anew.
pub(crate) const OPEN_NS: u64 = 1_000_000_000;

/// The most failed attempts after which the time until a rank counts as unreachable starts anew
/// (see [`OPEN_NS`]). A rank that computes closes no connection. So if a connection is closed again
/// and again, something on the path holds back the bytes of the two ranks.
pub(crate) const CLOSED_MAX: u32 = 3;

/// The time in nanoseconds without accepting connections, after there was no descriptor for one.
pub(crate) const PAUSE_NS: u64 = 100_000_000;

/// The most failed connections that one call passes over before it accepts a connection.
pub(crate) const FAILED_MAX: u32 = 64;

/// The seconds for which the system holds back a connection that has sent nothing
/// (`TCP_DEFER_ACCEPT`).
pub(crate) static DEFER_S: libc::c_int = 1;

/// The most connections that wait to be accepted.
pub(crate) const BACKLOG: i32 = 4096;

/// The most events of epoll that are taken from the kernel at a time.
pub(crate) const EVENTS_MAX: usize = 64;

/// The number of forecasts that must come true in a row before the next forecast counts as sure.
pub(crate) const FORECASTS_SURE: u32 = 8;

/// The number of reads that are tried on the connection of a sure forecast before the system is
/// asked about all connections.
pub(crate) const LOOKS_SURE: u32 = 64;

/// The default of the seconds of silence after which a host is lost. The least value is 1.
pub const SILENCE_S: u32 = 10;

/// The shortest silence, in nanoseconds, after which a host may count as lost. A host answers at
/// most two window probes a second (`tcp_invalid_ratelimit`). So a probe may have no answer, and
/// the next probe comes up to a second later.
pub(crate) const SILENCE_NS_MIN: u64 = 1_250_000_000;

/// The number of looks at the open connections within the time after which a silent host is lost.
pub(crate) const LOOKS: u64 = 8;

/// The time in nanoseconds between the loss of a rank and its report. The launcher of the lost rank
/// may know the reason, and then ends the job with this reason within this time.
pub(crate) const REPORT_NS: u64 = 500_000_000;

/// The most buffers that are kept for other connections after all their bytes were sent.
pub(crate) const SPARE_MAX: usize = 16;
