//! The thread of a launcher whose hosts meet at an address of TCP.
//!
//! Threat: anyone who reaches the leader's port may connect. A connection that does not prove the
//! key in time is closed, and few of them are kept; see [`goal_tcp::handshake`].

use super::super::options::Rendezvous as Options;
use super::{Command, Inbox, PART_NS, Post, SLEEP_MAX_NS};
use crate::binding::num_processors;
use crate::host::Host;
use crate::hosts::{DiscoveryError, Key, Machine, Message, Rendezvous};
use crate::launcher::error::LaunchError;
use crate::launcher::hosts::error::HostsError;
use goal_eth::now_ns;
use goal_tcp::channel::ChannelError;
use goal_tcp::handshake::{self, Ends, Refused};
use goal_tcp::stranger::{Failed, Shaken, Stranger};
use goal_tcp::{Channel, Conditions, Listener, Tls};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{Shutdown, getpeername, getsockname, shutdown};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::mpsc::TryRecvError;
use std::time::Duration;

/// The number of the launcher that leads.
const LEADER: u32 = 0;
/// The bytes that are read at a time.
const READ_MAX: usize = 64 << 10;
/// The time between two attempts to connect with the leader.
const RETRY_NS: u64 = 50_000_000;
/// The attempts in a row that end before the leader proved the key, until the user is told that the
/// keys differ.
const REFUSALS_MAX: u32 = 3;
/// The time in which a connection must prove the key, and the most that have not.
const HANDSHAKE_NS: u64 = 5_000_000_000;
const STRANGERS_MAX: usize = 256;

impl Post {
    /// Begins to meet the other launchers. Also returns this host.
    ///
    /// # Errors
    /// The options contradict themselves, or the address is of no use.
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
                refusals: 0,
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

/// Returns the addresses of the place where launchers meet.
fn resolve(at: &str) -> Result<Vec<SocketAddr>, String> {
    let mut all: Vec<SocketAddr> = Vec::new();
    for place in at.split(',') {
        all.extend(place.to_socket_addrs().map_err(|error| {
            format!(
                "{place} is no place to meet: {error} (give HOST:PORT, as node0:7777 or [fd00::1]:7777)"
            )
        })?);
    }
    match all.first() {
        None => Err(format!("{at} has no address")),
        Some(first) if first.port() == 0 => {
            Err(format!("{at} names no port, which all launchers must know"))
        }
        Some(_) => Ok(all),
    }
}

/// Listens at the first of the addresses that this host has, or at all of this host's, as behind a
/// translation of addresses.
fn listen(at: &str, targets: &[SocketAddr]) -> Result<Listener, String> {
    let mut why = String::new();
    let any = [IpAddr::from(Ipv6Addr::UNSPECIFIED), IpAddr::from(Ipv4Addr::UNSPECIFIED)];
    let port = targets[0].port();
    for address in targets.iter().map(SocketAddr::ip).chain(any) {
        match Listener::bind(address, port..=port) {
            Ok(listener) => return Ok(listener),
            Err(error)
                if why.is_empty() || matches!(error, goal_tcp::ListenError::InUse { .. }) =>
            {
                why = error.to_string();
            }
            Err(_) => {}
        }
    }
    Err(format!("launcher 0 can't listen at {at}: {why}"))
}

/// A connection with a launcher.
enum Connection {
    /// Its handshake is not complete.
    Shaking(Stranger),
    /// It is that of the launcher with this number, and has its end if the flag is set.
    Joined(Channel, u32, bool),
    /// It was told that it can't join. It stays until the launcher has read that, or this time.
    Refused(Channel, u64),
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Connection::Shaking(stranger) => stranger.as_fd(),
            Connection::Joined(socket, ..) | Connection::Refused(socket, _) => socket.as_fd(),
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
    refusals: u32,
    connections: Vec<Connection>,
    buffer: Vec<u8>,
}

impl Worker {
    /// Runs until the launcher's end is dropped and its last messages have been sent.
    fn work(mut self) {
        let mut ends_ns = None;
        loop {
            let now_ns = now_ns();
            while ends_ns.is_none() && self.rendezvous.has_room() {
                match self.inbox.commands.try_recv() {
                    Ok(command) => self.obey(command),
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => ends_ns = Some(now_ns + PART_NS),
                }
            }
            self.accept(now_ns);
            self.connect(now_ns);
            self.read(now_ns);
            self.rendezvous.handle_timeout(now_ns);
            if let Some(until_ns) = ends_ns {
                self.rendezvous.close();
                while self.rendezvous.poll_event().is_some() {}
                self.write();
                // A connection that is closed with unread bytes takes those with it that the peer
                // has not read: so both ends wait for each other's end.
                let are_done = self.rendezvous.is_sent() && self.shut();
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

    /// Accepts connections, if this launcher leads.
    fn accept(&mut self, now_ns: u64) {
        let Some(listener) = &self.listener else { return };
        while let Some(stranger) = Stranger::accept(listener, &self.conditions, now_ns) {
            // The oldest comes first, but one that said hello with the key comes last: its launcher
            // may take it for open already.
            let strangers = (0..).zip(&self.connections).filter_map(|(at, one)| match one {
                Connection::Shaking(stranger) => Some((stranger.is_greeted(), at)),
                _ => None,
            });
            let strangers: Vec<(bool, usize)> = strangers.collect();
            if strangers.len() >= STRANGERS_MAX
                && let Some(&(_, oldest)) = strangers.iter().min()
            {
                self.connections.remove(oldest);
            }
            self.connections.push(Connection::Shaking(stranger));
        }
    }

    /// Connects with the leader, if this launcher does not lead and has no connection.
    fn connect(&mut self, now_ns: u64) {
        let is_needed = self.listener.is_none()
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
        match Stranger::connect(target, ends, &self.conditions, now_ns) {
            Ok(stranger) => self.connections.push(Connection::Shaking(stranger)),
            Err(failed) => self.fail(target, failed),
        }
    }

    /// Notes that an attempt to connect with the leader failed.
    fn fail(&mut self, target: SocketAddr, failed: Failed) {
        let text = format!("no connection with launcher 0 at {} ({target}): {failed}", self.at);
        let is_refusal = !matches!(failed, Failed::Channel(ChannelError::System(_)));
        self.refusals = if is_refusal { self.refusals + 1 } else { 0 };
        match failed {
            Failed::Refused(Refused::Key) => self.rendezvous.give_up(text),
            _ if self.refusals >= REFUSALS_MAX => self.rendezvous.give_up(text),
            _ => self.rendezvous.hinder(text),
        }
    }

    /// Goes on with handshakes, and reads what has arrived.
    fn read(&mut self, now_ns: u64) {
        let mut at = 0;
        while at < self.connections.len() {
            let stays = match &mut self.connections[at] {
                Connection::Shaking(_) => self.shake(at, now_ns),
                Connection::Joined(..) => self.receive(at, now_ns),
                Connection::Refused(channel, until_ns) => {
                    // A connection that is closed with unread bytes takes the refusal with it.
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

    /// Goes on with a handshake. Returns false if the connection must be closed.
    fn shake(&mut self, at: usize, now_ns: u64) -> bool {
        let target = self.targets[self.next_target.saturating_sub(1) % self.targets.len()];
        let Connection::Shaking(stranger) = &mut self.connections[at] else { return true };
        if stranger.connects() && !is_writable(stranger.as_fd()) {
            let is_late = stranger.since_ns() + HANDSHAKE_NS <= now_ns;
            if is_late {
                self.fail(target, Errno::TIMEDOUT.into());
            }
            return !is_late;
        }
        let ends = match stranger.go_on(&self.key) {
            Ok(Shaken::GoesOn) => return stranger.since_ns() + HANDSHAKE_NS > now_ns,
            Ok(Shaken::Greeted(ends)) => {
                if ends.to != self.number {
                    return false;
                }
                // A later one with the same number may be a recording, which gets no further.
                return stranger.welcome(&self.key).is_ok();
            }
            Ok(Shaken::Done(ends)) => ends,
            Err(failed) => {
                let (is_accepted, from) = (stranger.is_accepted(), addresses(stranger.as_fd()));
                match (is_accepted, failed, from) {
                    (false, failed, _) => self.fail(target, failed),
                    (true, Failed::Refused(Refused::Key), Some((address, _))) => {
                        self.rendezvous.has_other_key(address);
                    }
                    (true, ..) => {}
                }
                return false;
            }
        };
        let number = if stranger.is_accepted() { ends.from } else { ends.to };
        if self.rendezvous.has(number) {
            let why = self.rendezvous.refuse_same(number);
            let Connection::Shaking(stranger) = self.connections.remove(at) else { return true };
            let mut channel = stranger.into_channel();
            // A new connection has room for so little.
            let _ = channel.send(&Message::Refused(why).encode(&[]));
            self.connections.insert(at, Connection::Refused(channel, now_ns + PART_NS));
            return true;
        }
        let Some((address, reached)) = addresses(stranger.as_fd()) else { return false };
        self.rendezvous.joined(now_ns, number, address, reached);
        let Connection::Shaking(stranger) = self.connections.remove(at) else { return true };
        let joined = Connection::Joined(stranger.into_channel(), number, false);
        self.connections.insert(at, joined);
        true
    }

    /// Reads what a launcher has sent. Returns false if the connection must be closed.
    fn receive(&mut self, at: usize, now_ns: u64) -> bool {
        let Self { connections, rendezvous, buffer, inbox, .. } = self;
        let Connection::Joined(channel, number, has_ended) = &mut connections[at] else {
            return true;
        };
        // One that is lost has nothing more to say.
        if *has_ended || !rendezvous.has(*number) {
            return *has_ended;
        }
        // While an event waits, nothing is read, so a slow launcher slows down the others.
        while inbox.event.is_none() {
            match channel.receive(buffer) {
                Ok(None) => return true,
                Ok(Some(0)) => {
                    *has_ended = true;
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

    /// Sends what waits, as far as the system takes it.
    fn write(&mut self) {
        for connection in &mut self.connections {
            let Connection::Joined(channel, number, _) = connection else { continue };
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
            let _ = channel.flush();
        }
    }

    /// Ends this end of all connections. Returns true if the other ends have ended too.
    fn shut(&self) -> bool {
        let joined = self.connections.iter().filter_map(|connection| match connection {
            Connection::Joined(socket, ..) | Connection::Refused(socket, _) => Some(socket),
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
        let Self { connections, rendezvous, inbox, listener, .. } = self;
        let mut fds = vec![PollFd::new(&*inbox.bell, PollFlags::IN)];
        fds.extend(listener.iter().map(|listener| PollFd::new(&**listener, PollFlags::IN)));
        for connection in connections.iter() {
            let writes = match connection {
                Connection::Shaking(stranger) => stranger.connects(),
                Connection::Refused(..) => false,
                Connection::Joined(_, number, _) => {
                    rendezvous.unsent(*number).is_some_and(|unsent| !unsent.is_empty())
                }
            };
            let reads = inbox.event.is_none();
            let mut flags = if reads { PollFlags::IN } else { PollFlags::empty() };
            flags.set(PollFlags::OUT, writes);
            fds.push(PollFd::new(connection, flags));
        }
        // Errors are ignored, as everything is checked again.
        let _ = poll(&mut fds, limit.ok().as_ref());
        let _ = rustix::io::read(&*inbox.bell, &mut [0; 8]);
    }
}

/// Returns true if a socket can be written, or has failed.
fn is_writable(socket: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(socket, PollFlags::OUT)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&now)).is_ok_and(|ready| ready > 0)
}

/// Returns the addresses of the peer and of this end.
fn addresses(socket: BorrowedFd<'_>) -> Option<(IpAddr, IpAddr)> {
    let peer = SocketAddr::try_from(getpeername(socket).ok()??).ok()?;
    let own = SocketAddr::try_from(getsockname(socket).ok()?).ok()?;
    Some((peer.ip(), own.ip()))
}
