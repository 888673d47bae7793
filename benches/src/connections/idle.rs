//! The other ends of idle connections.
//!
//! Threat: anyone on this machine may connect to the ports of the two ranks while they run. Both
//! demand the key of the run, which is random and never leaves this process.

use goal_tcp::handshake::{Ends, Key};
use goal_tcp::pending::{HandshakeState, PendingConnection};
use goal_tcp::{Channel, Conditions};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::time::Duration;

/// The connections that are opened at a time. A rank allows few that have not proved the key.
const AT_ONCE: u32 = 32;

/// The longest time of a step of a handshake.
const LIMIT: Duration = Duration::from_secs(10);

/// Connects `count` ranks, from number 2 on, with the rank `to`, which must accept meanwhile.
/// Returns their channels.
///
/// # Errors
/// Those of the system, or a handshake fails.
pub(super) fn connect(
    count: u32,
    to: u32,
    address: SocketAddr,
    key: &Key,
) -> io::Result<Vec<Channel>> {
    let mut sockets = Vec::new();
    let mut next = 0;
    while next < count {
        let until = count.min(next + AT_ONCE);
        let begin = |rank| {
            PendingConnection::connect(
                address,
                Ends { from: 2 + rank, to },
                &Conditions::default(),
                0,
            )
        };
        let callers = (next..until).map(begin).collect::<Result<Vec<_>, _>>();
        for caller in callers.map_err(io::Error::other)? {
            sockets.push(complete(caller, key)?);
        }
        next = until;
    }
    Ok(sockets)
}

/// Waits until the handshake of a connection is complete. Returns its socket.
fn complete(mut caller: PendingConnection, key: &Key) -> io::Result<Channel> {
    loop {
        let wanted = if caller.connects() { PollFlags::POLLOUT } else { PollFlags::POLLIN };
        let limit = PollTimeout::try_from(LIMIT).map_err(io::Error::other)?;
        if poll(&mut [PollFd::new(caller.as_fd(), wanted)], limit)? == 0 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if let HandshakeState::Done(_) = caller.go_on(key).map_err(io::Error::other)? {
            return Ok(caller.into_channel());
        }
    }
}
