//! The sockets of connections.

use rustix::io::{Errno, readv, retry_on_intr};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendFlags, SocketFlags, SocketType, connect,
    ipproto, recv, sendmsg, socket_with, sockopt,
};
use std::io::{IoSlice, IoSliceMut};
use std::net::SocketAddr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

/// Begins to connect with the address `to`. The socket becomes writable when the attempt has ended.
pub(crate) fn begin(to: SocketAddr, silence_s: u32) -> Result<OwnedFd, Errno> {
    let family = match to {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?;
    prepare(&socket, silence_s)?;
    match connect(&socket, &to) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(error),
    }
}

/// The keep-alive probes of a silent peer: the seconds of silence before the first probe, the
/// seconds between two probes, and the number of probes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Questions {
    pub(crate) idle_s: u32,
    pub(crate) interval_s: u32,
    pub(crate) count: u32,
}

impl Questions {
    /// Returns probes that find out within `silence_s` seconds that a peer is gone. The least time
    /// is 2 s, because the system counts in seconds.
    pub(crate) fn within(silence_s: u32) -> Self {
        // The system takes no longer times than 2^15 s.
        let silence_s = silence_s.min(i16::MAX as u32);
        let interval_s = (silence_s / 5).max(1);
        let count = (silence_s.max(2) - 1).div_euclid(interval_s).min(3);
        Self { idle_s: silence_s.max(2) - count * interval_s, interval_s, count }
    }
}

/// Sets the options of a connection. Small messages leave at once. While nothing is under way, the
/// system notices a peer that vanished. The peer's system answers even if its rank computes or is
/// stopped, so such a rank does not count as vanished.
///
/// Until the handshake is complete, `TCP_USER_TIMEOUT` notices a vanished peer while bytes are
/// under way. The system at the other end has room for the bytes of a handshake, unless its queue
/// of connections is full.
pub(crate) fn prepare(socket: &OwnedFd, silence_s: u32) -> Result<(), Errno> {
    let limit_ms = silence_s.max(1).saturating_mul(1000).min(i32::MAX as u32);
    let Questions { idle_s, interval_s, count } = Questions::within(silence_s);
    sockopt::set_tcp_nodelay(socket, true)?;
    sockopt::set_tcp_keepidle(socket, Duration::from_secs(idle_s.into()))?;
    sockopt::set_tcp_keepintvl(socket, Duration::from_secs(interval_s.into()))?;
    sockopt::set_tcp_keepcnt(socket, count)?;
    sockopt::set_socket_keepalive(socket, true)?;
    sockopt::set_tcp_user_timeout(socket, limit_ms)
}

/// Switches `TCP_USER_TIMEOUT` off for a connection whose handshake is complete. This option would
/// end the connection also if the peer had no room for that time.
pub(crate) fn complete(socket: BorrowedFd<'_>) {
    // The system refuses neither this option nor this value.
    let _ = sockopt::set_tcp_user_timeout(socket, 0);
}

/// Returns the error with which an attempt to connect ended, if it failed.
pub(crate) fn connected(socket: &OwnedFd) -> Result<(), Errno> {
    sockopt::socket_error(socket)?
}

/// Sends bytes that lie in three pieces. Returns the number of bytes that the system took.
///
/// # Errors
/// [`Errno::AGAIN`] if none was taken, or those of the system.
pub(crate) fn send_pieces(socket: BorrowedFd<'_>, pieces: [&[u8]; 3]) -> Result<usize, Errno> {
    let pieces = pieces.map(IoSlice::new);
    let send =
        || sendmsg(socket, &pieces, &mut SendAncillaryBuffer::default(), SendFlags::NOSIGNAL);
    retry_on_intr(send)
}

/// Receives bytes into `into`, without waiting. Returns the number of bytes, 0 at the end of the
/// stream, or `None` if there are no bytes now.
///
/// # Errors
/// Those of the system.
pub(crate) fn receive(socket: BorrowedFd<'_>, into: &mut [u8]) -> Result<Option<usize>, Errno> {
    received(|| Ok(recv(socket, &mut *into, RecvFlags::empty())?.0))
}

/// Receives bytes as [`receive`] does. Bytes that do not fit into `into` go to `ahead`.
///
/// # Errors
/// Those of the system.
pub(crate) fn receive_pieces(
    socket: BorrowedFd<'_>,
    into: &mut [u8],
    ahead: &mut [u8],
) -> Result<Option<usize>, Errno> {
    received(|| readv(socket, &mut [IoSliceMut::new(into), IoSliceMut::new(ahead)]))
}

/// Calls `read`, and again if a signal interrupted it. Returns `None` if there is nothing to read
/// now.
fn received(mut read: impl FnMut() -> Result<usize, Errno>) -> Result<Option<usize>, Errno> {
    loop {
        match read() {
            Ok(taken) => return Ok(Some(taken)),
            Err(Errno::AGAIN) => return Ok(None),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}
