//! Begins connections between launchers. The leader accepts them, the others connect with it, and
//! both sides prove the key.
//!
//! Threat: anyone may connect, say anything, and do so as often as they can. So few connections are
//! accepted at a time, and the messages of other connections are read in between.

use super::{Connection, LEADER, Worker};
use crate::hosts::LauncherMessage;
use crate::launcher::hosts::post::PART_NS;
use goal_tcp::Listener;
use goal_tcp::channel::ChannelError;
use goal_tcp::handshake::{Ends, HandshakeError};
use goal_tcp::pending::{HandshakeState, PendingConnection, PendingError};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{getpeername, getsockname};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};

/// The time between two attempts to connect with the leader.
const RETRY_NS: u64 = 50_000_000;
/// The time, in nanoseconds, after which the user is told that the keys differ. All attempts within
/// it ended before the leader had proved the key. A launcher takes less time to end.
const REFUSED_NS: u64 = 2 * PART_NS;
/// The time in nanoseconds in which a connection must prove the key.
const HANDSHAKE_NS: u64 = 5_000_000_000;
/// The most connections that have not proved the key.
const CALLERS_MAX: usize = 256;
/// The most connections that are accepted in a row, before messages of others are read.
const ACCEPTS_MAX: usize = 64;
/// The pause in nanoseconds before connections are accepted again, after descriptors ran out.
const PAUSE_NS: u64 = 100_000_000;

impl Worker {
    /// Accepts connections, at most [`ACCEPTS_MAX`], if this launcher leads. Further ones stay in
    /// the listener's queue until the next call.
    pub(super) fn accept(&mut self, now_ns: u64) {
        for _ in 0..ACCEPTS_MAX {
            let Some(listener) = self.open_listener(now_ns) else { return };
            match PendingConnection::accept(listener, &self.conditions, now_ns) {
                Ok(Some(caller)) => {
                    self.make_room();
                    self.connections.push(Connection::Shaking(caller));
                    let last = self.connections.len() - 1;
                    // The peer's hello has often arrived already.
                    if !self.shake(last, now_ns) {
                        self.connections.remove(last);
                    }
                }
                Ok(None) => return,
                Err(error) => {
                    self.accept_ns = now_ns + PAUSE_NS;
                    return self.rendezvous.hinder(format!(
                        "no connection can be accepted: {error} (ulimit -n has the limit of open files)"
                    ));
                }
            }
        }
    }

    /// Returns the listener, or `None` if this launcher accepts no connections now.
    pub(super) fn open_listener(&self, now_ns: u64) -> Option<&Listener> {
        self.listener.as_deref().filter(|_| self.accept_ns <= now_ns)
    }

    /// Makes room for one more pending connection. Drops the oldest connection that has not shown
    /// the key, if there are [`CALLERS_MAX`] of these. A connection that has shown the key is kept
    /// longer, because its launcher may take it for open already. A job has no more such
    /// connections than launchers. Beyond that, some are recordings. If there are [`CALLERS_MAX`]
    /// more than launchers, the oldest is dropped.
    fn make_room(&mut self) {
        let oldest = |has_key: bool, most: usize| {
            let is_one = |one: &Connection| matches!(one, Connection::Shaking(caller) if caller.has_shown_key() == has_key);
            let mut these = (0..).zip(&self.connections).filter(|(_, one)| is_one(one));
            let (first, _) = these.next()?;
            (these.count() + 1 >= most).then_some(first)
        };
        let known_max = CALLERS_MAX + self.rendezvous.size() as usize;
        let dropped = oldest(false, CALLERS_MAX).or_else(|| oldest(true, known_max));
        if let Some(at) = dropped {
            self.connections.remove(at);
        }
    }

    /// Closes the listener and all pending connections, as the job ends. A pending connection may
    /// come from a launcher of the next job.
    pub(super) fn close_port(&mut self) {
        self.listener = None;
        self.connections.retain(|one| !matches!(one, Connection::Shaking(_)));
    }

    /// Connects with the leader, if this launcher does not lead and has no connection.
    pub(super) fn connect(&mut self, now_ns: u64) {
        let is_needed = !self.rendezvous.leads()
            && self.connections.is_empty()
            && !self.rendezvous.is_broken()
            && !self.rendezvous.is_over();
        if !is_needed || now_ns < self.retry_ns {
            return;
        }
        self.retry_ns = now_ns + RETRY_NS;
        let target = self.targets[self.next_target % self.targets.len()];
        self.next_target += 1;
        let ends = Ends { from: self.number, to: LEADER };
        match PendingConnection::connect(target, ends, &self.conditions, now_ns) {
            Ok(caller) => self.connections.push(Connection::Shaking(caller)),
            Err(failed) => self.fail(target, failed, now_ns),
        }
    }

    /// Notes that an attempt to connect with the leader failed. If the leader has another key, the
    /// search ends. Any other single refusal proves nothing: for a moment, a launcher of a job that
    /// ends may still listen at that port.
    fn fail(&mut self, target: SocketAddr, failed: PendingError, now_ns: u64) {
        let text = format!("no connection with launcher 0 at {} ({target}): {failed}", self.at);
        let is_refusal = !matches!(
            failed,
            PendingError::Channel(ChannelError::System(_)) | PendingError::Unanswered
        );
        let since_ns = self.refused_ns.filter(|_| is_refusal).unwrap_or(now_ns);
        self.refused_ns = is_refusal.then_some(since_ns);
        match failed {
            PendingError::Refused(HandshakeError::Key) => self.rendezvous.give_up(text),
            _ if now_ns >= since_ns + REFUSED_NS => self.rendezvous.give_up(text),
            _ => self.rendezvous.hinder(text),
        }
    }

    /// Continues the handshake of connection `at`. Returns false if it must be closed.
    pub(super) fn shake(&mut self, at: usize, now_ns: u64) -> bool {
        let target = self.targets[self.next_target.saturating_sub(1) % self.targets.len()];
        let Connection::Shaking(caller) = &mut self.connections[at] else { return true };
        if caller.connects() && !is_writable(caller.as_fd()) {
            let is_late = caller.since_ns() + HANDSHAKE_NS <= now_ns;
            if is_late {
                self.fail(target, Errno::TIMEDOUT.into(), now_ns);
            }
            return !is_late;
        }
        let ends = match caller.go_on(&self.key) {
            Ok(HandshakeState::GoesOn) => {
                let is_late = caller.since_ns() + HANDSHAKE_NS <= now_ns;
                if is_late && !caller.is_accepted() {
                    self.fail(target, PendingError::Unanswered, now_ns);
                }
                return !is_late;
            }
            Ok(HandshakeState::Greeted(ends)) => {
                if ends.to != self.number || !self.rendezvous.is_open_to(ends.from) {
                    return false;
                }
                // A later connection with the same number is welcomed too. If it is a recording, it
                // gets no further, since it can't answer the welcome.
                return caller.welcome(&self.key).is_ok();
            }
            Ok(HandshakeState::Done(ends)) => ends,
            Err(failed) => {
                let (is_accepted, from) = (caller.is_accepted(), addresses(caller.as_fd()));
                match (is_accepted, failed, from) {
                    (false, failed, _) => self.fail(target, failed, now_ns),
                    (true, PendingError::Refused(HandshakeError::Key), Some((address, _))) => {
                        self.rendezvous.has_other_key(address);
                    }
                    (true, ..) => {}
                }
                return false;
            }
        };
        let number = if caller.is_accepted() { ends.from } else { ends.to };
        if self.rendezvous.has(number) {
            let why = self.rendezvous.refuse_same(number);
            let Connection::Shaking(caller) = self.connections.remove(at) else { return true };
            let mut channel = caller.into_channel();
            // A new connection always has room for a message this short.
            let _ = channel.send(&LauncherMessage::Refused(why).encode(&[]));
            self.connections.insert(at, Connection::Refused(channel, now_ns + PART_NS));
            return true;
        }
        let Some((address, reached)) = addresses(caller.as_fd()) else { return false };
        self.rendezvous.joined(now_ns, number, address, reached);
        let Connection::Shaking(caller) = self.connections.remove(at) else { return true };
        let joined = Connection::JoinedRank(caller.into_channel(), number);
        self.connections.insert(at, joined);
        true
    }
}

/// Returns true if a socket can be written, or has failed.
fn is_writable(socket: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(socket, PollFlags::OUT)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&now)).is_ok_and(|ready| ready > 0)
}

/// Returns the IP addresses of the peer and of this end. Returns `None` if the system knows none.
fn addresses(socket: BorrowedFd<'_>) -> Option<(IpAddr, IpAddr)> {
    let peer = SocketAddr::try_from(getpeername(socket).ok()??).ok()?;
    let own = SocketAddr::try_from(getsockname(socket).ok()?).ok()?;
    Some((peer.ip(), own.ip()))
}
