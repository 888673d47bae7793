//! Talks with other launchers over TCP, on a thread of its own. All connect to the leader's
//! address.
//!
//! Threat: anyone who reaches the leader's port may connect. A connection that does not prove the
//! key in time is closed, and few of them are kept; see [`goal_tcp::handshake`].

mod meet;
mod place;

pub use place::listen_at;

use super::super::options::Rendezvous as Options;
use super::{Command, Inbox, PART_NS, Post, SLEEP_MAX_NS};
use crate::hosts::{DiscoveryError, Key, Machine, Rendezvous};
use crate::launcher::error::LaunchError;
use crate::launcher::hosts::error::HostsError;
use goal_eth::now_ns;
use goal_job::binding::num_processors;
use goal_job::host::Host;
use goal_tcp::handshake;
use goal_tcp::pending::PendingConnection;
use goal_tcp::{Channel, Conditions, Listener, Tls};
use place::{listen, resolve};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{Shutdown, shutdown};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::mpsc::TryRecvError;
use std::time::Duration;

/// The number of the launcher that leads.
const LEADER: u32 = 0;
/// The most bytes that are read from a connection at a time.
const READ_MAX: usize = 64 << 10;

impl Post {
    /// Starts the thread that meets the other launchers. Returns its handle, and this launcher as a
    /// [`Host`].
    ///
    /// # Errors
    /// The options contradict themselves, or the leader's address can't be used.
    pub(in super::super) fn at_rendezvous(
        options: &Options,
        key: &Key,
        ranks: u32,
    ) -> Result<(Self, Host), LaunchError> {
        let Options { number, size, at, here, address, fault_timeout_s, .. } = options;
        let refused = |why: String| HostsError::from(DiscoveryError::Rendezvous(why));
        let rendezvous =
            Rendezvous::new(now_ns(), (*number, *size), ranks, here.as_ref(), *address)
                .map_err(HostsError::from)?
                .with_silence(*fault_timeout_s)
                .on_machine(machine());
        let targets = resolve(at).map_err(refused)?;
        let listener = match (&options.listener, rendezvous.leads()) {
            (Some(listener), true) => Some(Arc::clone(listener)),
            (None, true) => Some(Arc::new(listen(at, &targets).map_err(refused)?)),
            (_, false) => None,
        };
        let me = rendezvous.me();
        let tls = options.encrypts.then(Tls::new).transpose()?;
        let conditions = Conditions { silence_s: *fault_timeout_s, tls };
        let (key, at, number) = (key.rendezvous(), at.clone(), *number);
        let work = move |inbox| {
            let worker = Worker {
                inbox,
                rendezvous,
                key,
                number,
                at,
                conditions,
                listener,
                targets,
                next_target: 0,
                retry_ns: 0,
                accept_ns: 0,
                refused_ns: None,
                connections: vec![],
                buffer: vec![0; READ_MAX],
            };
            worker.work();
        };
        Ok((Self::start(work)?, me))
    }
}

/// Returns the machine of this launcher. Launchers in containers may share one.
fn machine() -> Machine {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    Machine { id: id.trim().to_owned(), processors: num_processors() as u32 }
}

/// A connection with a launcher.
enum Connection {
    /// Its handshake is not complete.
    Shaking(PendingConnection),
    /// A connection with the launcher of this number, which has proved the key.
    JoinedRank(Channel, u32),
    /// A connection that was refused. It stays until the launcher has read the refusal, or until
    /// this time in nanoseconds.
    Refused(Channel, u64),
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Connection::Shaking(caller) => caller.as_fd(),
            Connection::JoinedRank(socket, ..) | Connection::Refused(socket, _) => socket.as_fd(),
        }
    }
}

/// The state of the thread.
struct Worker {
    inbox: Inbox,
    rendezvous: Rendezvous,
    key: handshake::Key,
    number: u32,
    at: String,
    conditions: Conditions,
    listener: Option<Arc<Listener>>,
    /// The addresses at which the leader may be reached, and the one to try next.
    targets: Vec<SocketAddr>,
    next_target: usize,
    retry_ns: u64,
    /// The time before which no connection is accepted, because there was no descriptor for one.
    accept_ns: u64,
    /// The time of the first of the attempts in a row that the peer refused. `None` if the last
    /// attempt was not refused.
    refused_ns: Option<u64>,
    connections: Vec<Connection>,
    buffer: Vec<u8>,
}

impl Worker {
    /// Runs until the [`Post`] is dropped and its last messages have been sent.
    fn work(mut self) {
        let mut ends_ns = None;
        loop {
            let now_ns = now_ns();
            while ends_ns.is_none() && self.rendezvous.has_room() {
                match self.inbox.commands.try_recv() {
                    Ok(command) => self.obey(command),
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => {
                        ends_ns = Some(now_ns + PART_NS);
                        self.close_port();
                    }
                }
            }
            self.accept(now_ns);
            self.connect(now_ns);
            self.read(now_ns);
            self.look_for_silence(now_ns);
            self.rendezvous.handle_timeout(now_ns);
            if let Some(until_ns) = ends_ns {
                self.rendezvous.close();
                while self.rendezvous.poll_event().is_some() {}
                self.write();
                // Closing a socket with unread bytes resets the connection, and the peer loses what
                // it has not read. So each end shuts only its sending side, and reads on until the
                // other end has done so too.
                let are_done = self.is_sent() && self.shut();
                if are_done || now_ns >= until_ns {
                    return;
                }
            }
            let Self { inbox, rendezvous, .. } = &mut self;
            inbox.tell(|| rendezvous.poll_event());
            self.write();
            self.sleep(ends_ns.is_some());
        }
    }

    /// Asks this system when the systems of silent launchers last acknowledged something.
    fn look_for_silence(&mut self, now_ns: u64) {
        for silent in self.rendezvous.silent(now_ns) {
            let channel = self.connections.iter().find_map(|one| match one {
                Connection::JoinedRank(channel, number) if *number == silent => Some(channel),
                _ => None,
            });
            if let Some(before_ns) = channel.and_then(Channel::host_heard_before_ns) {
                self.rendezvous.system_heard(silent, now_ns.saturating_sub(before_ns));
            }
        }
    }

    fn obey(&mut self, command: Command) {
        let rendezvous = &mut self.rendezvous;
        match command {
            Command::Claimed(ports) => rendezvous.claimed(&ports),
            Command::Begin(_) => {}
            Command::Connect(host) => rendezvous.connect(host),
            Command::Send(host, message, bytes, _) => rendezvous.send(host, &message, &bytes),
            Command::Probe(host, round) => rendezvous.probe(host, round),
            Command::Reply(host, round, _, reply) => rendezvous.reply(host, round, reply),
            Command::TellMissing => rendezvous.tell_missing(),
        }
    }

    /// Continues handshakes, and reads the messages that have arrived.
    fn read(&mut self, now_ns: u64) {
        let mut at = 0;
        while at < self.connections.len() {
            let stays = match &mut self.connections[at] {
                Connection::Shaking(_) => self.shake(at, now_ns),
                Connection::JoinedRank(..) => self.receive(at, now_ns),
                Connection::Refused(channel, until_ns) => {
                    // Reads what the peer still sends. Closing a socket with unread bytes would
                    // reset the connection, and the peer would lose the refusal.
                    let more = channel.receive(&mut self.buffer);
                    now_ns < *until_ns && !matches!(more, Ok(Some(0)) | Err(_))
                }
            };
            if stays {
                at += 1;
            } else {
                self.connections.remove(at);
            }
        }
    }

    /// Reads what a launcher has sent. Returns false if the connection must be closed.
    fn receive(&mut self, at: usize, now_ns: u64) -> bool {
        let Self { connections, rendezvous, buffer, inbox, .. } = self;
        let Connection::JoinedRank(channel, number) = &mut connections[at] else { return true };
        // Nothing is read from a launcher that counts as lost.
        if !rendezvous.has(*number) {
            return false;
        }
        // While an event waits, nothing is read. So a slow launcher slows down those that send to
        // it.
        while inbox.event.is_none() {
            match channel.receive(buffer) {
                Ok(None) => return true,
                Ok(Some(0)) => {
                    rendezvous.ended(*number, None);
                    return false;
                }
                Ok(Some(len)) => {
                    rendezvous.received(now_ns, *number, &buffer[..len]);
                    inbox.tell(|| rendezvous.poll_event());
                }
                Err(error) => {
                    rendezvous.ended(*number, Some(error.to_string()));
                    return false;
                }
            }
        }
        true
    }

    /// Sends the waiting bytes, as far as the system takes them.
    fn write(&mut self) {
        for connection in &mut self.connections {
            let Connection::JoinedRank(channel, number) = connection else { continue };
            let Some(unsent) = self.rendezvous.unsent(*number) else { continue };
            let mut sent = 0;
            while sent < unsent.len() {
                match channel.send(&unsent[sent..]) {
                    Ok(len) => sent += len,
                    Err(Errno::INTR) => {}
                    // An error is found when the connection is read.
                    Err(_) => break,
                }
            }
            unsent.drain(..sent);
            // The channel may hold encrypted bytes that the system has not taken yet.
            let _ = channel.flush();
        }
    }

    /// Returns true if nothing waits to be sent to launchers.
    fn is_sent(&self) -> bool {
        let waits = |one: &Connection| matches!(one, Connection::JoinedRank(channel, _) if channel.has_unsent());
        self.rendezvous.is_sent() && !self.connections.iter().any(waits)
    }

    /// Shuts this end of all connections. Returns true if the peers have closed all of them.
    fn shut(&self) -> bool {
        let joined = self.connections.iter().filter_map(|connection| match connection {
            Connection::JoinedRank(socket, ..) | Connection::Refused(socket, _) => Some(socket),
            Connection::Shaking(_) => None,
        });
        let mut are_gone = true;
        for socket in joined {
            // An error is found when the connection is read.
            let _ = shutdown(socket, Shutdown::Write);
            are_gone = false;
        }
        are_gone
    }

    fn sleep(&mut self, is_leaving: bool) {
        let limit_ns = match self.inbox.event.is_some() || is_leaving {
            true => 1_000_000,
            false => SLEEP_MAX_NS,
        };
        let until_ns = self.rendezvous.poll_timeout();
        let timeout_ns = until_ns.map_or(u64::MAX, |at_ns| at_ns.saturating_sub(now_ns()));
        let limit = Timespec::try_from(Duration::from_nanos(limit_ns.min(timeout_ns)));
        let is_open = self.open_listener(now_ns()).is_some();
        let Self { connections, rendezvous, inbox, listener, .. } = self;
        let mut fds = vec![PollFd::new(&*inbox.bell, PollFlags::IN)];
        let listener = listener.iter().filter(|_| is_open);
        fds.extend(listener.map(|listener| PollFd::new(&**listener, PollFlags::IN)));
        for connection in connections.iter() {
            let writes = match connection {
                Connection::Shaking(caller) => caller.connects(),
                Connection::Refused(..) => false,
                Connection::JoinedRank(channel, number) => {
                    channel.has_unsent()
                        || rendezvous.unsent(*number).is_some_and(|unsent| !unsent.is_empty())
                }
            };
            let reads = inbox.event.is_none();
            let mut flags = if reads { PollFlags::IN } else { PollFlags::empty() };
            flags.set(PollFlags::OUT, writes);
            fds.push(PollFd::new(connection, flags));
        }
        // Errors are ignored, as the caller looks at all sockets again.
        let _ = poll(&mut fds, limit.ok().as_ref());
        let _ = rustix::io::read(&*inbox.bell, &mut [0; 8]);
    }
}
