//! Reads what the system knows of a connection. `unsafe`: no safe wrapper has `TCP_INFO`.
#![allow(unsafe_code)] // getsockopt

use std::os::fd::{AsRawFd, BorrowedFd};

/// The number of the state `TCP_ESTABLISHED`.
const ESTABLISHED: u8 = 1;

/// The state of a connection as the system knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Info {
    /// True if the connection is established.
    pub(crate) is_open: bool,
    /// True if bytes or a window probe were sent and the peer's host has not answered since.
    pub(crate) awaits_host: bool,
    /// The time in nanoseconds since the peer's host last acknowledged anything.
    pub(crate) heard_before_ns: u64,
}

/// Returns the state of a connection; `None` if the system does not tell it.
pub(crate) fn read(socket: BorrowedFd<'_>) -> Option<Info> {
    // SAFETY: the structure consists of numbers, for which zeros are valid.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut len = size_of_val(&info) as libc::socklen_t;
    // SAFETY: the system writes at most `len` bytes to the structure, which lives until then.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut len,
        )
    };
    (result == 0).then(|| Info {
        is_open: info.tcpi_state == ESTABLISHED,
        // A host without room answers each retransmission, but retransmissions become ever rarer.
        // So a host is awaited only if bytes were sent after its last answer.
        awaits_host: info.tcpi_unacked > 0 && info.tcpi_last_ack_recv > info.tcpi_last_data_sent
            || info.tcpi_probes > 0,
        heard_before_ns: u64::from(info.tcpi_last_ack_recv) * 1_000_000,
    })
}
