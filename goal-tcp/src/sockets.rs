//! The sockets of connections.

use crate::limits::{KEEPALIVE_IDLE_S, KEEPALIVE_INTERVAL_S, KEEPALIVE_PROBES, SILENCE_MS};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SocketFlags, SocketType, connect, ipproto, recv, socket_with, sockopt,
};
use std::net::SocketAddr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

/// Begins to connect. The socket can be written when that has ended.
pub(crate) fn begin(to: SocketAddr) -> Result<OwnedFd, Errno> {
    let family = match to {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?;
    prepare(&socket)?;
    match connect(&socket, &to) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(error),
    }
}

/// Sets the options of a connection: small messages leave at once, and a peer that vanished is
/// noticed.
pub(crate) fn prepare(socket: &OwnedFd) -> Result<(), Errno> {
    sockopt::set_tcp_nodelay(socket, true)?;
    sockopt::set_tcp_user_timeout(socket, SILENCE_MS)?;
    sockopt::set_tcp_keepidle(socket, Duration::from_secs(KEEPALIVE_IDLE_S))?;
    sockopt::set_tcp_keepintvl(socket, Duration::from_secs(KEEPALIVE_INTERVAL_S))?;
    sockopt::set_tcp_keepcnt(socket, KEEPALIVE_PROBES)?;
    sockopt::set_socket_keepalive(socket, true)
}

/// Returns the error with which an attempt to connect ended, if it failed.
pub(crate) fn connected(socket: &OwnedFd) -> Result<(), Errno> {
    sockopt::socket_error(socket)?
}

/// Receives bytes, if there are any. Returns `None` if there are none now, and 0 at the end.
///
/// # Errors
/// Those of the system.
pub(crate) fn receive(socket: BorrowedFd<'_>, into: &mut [u8]) -> Result<Option<usize>, Errno> {
    loop {
        match recv(socket, &mut *into, RecvFlags::empty()) {
            Ok((taken, _)) => return Ok(Some(taken)),
            Err(Errno::AGAIN) => return Ok(None),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}
