//! The TCP fabric of a rank: its end of the connections with ranks on other hosts.

mod deliver;
mod forecast;
mod messages;
mod open;
mod silence;

use crate::conditions::Conditions;
use crate::connection::Connection;
use crate::handshake::Key;
use crate::limits::{READ_MAX, REPORT_NS};
use crate::listener::Listener;
use crate::outbox::Spare;
use crate::pending::PendingConnection;
use crate::poller::Poller;
use forecast::Forecast;
use goal_fabric::{Credit, Exchanged, Room};
use rustix::io::Errno;
use slab::Slab;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;

/// The token of the listener.
const LISTENER: usize = 0;
/// The first token of a connection.
const FIRST: usize = 1;

/// One rank's end of the connections with ranks on other hosts.
pub struct TcpFabric {
    own: u32,
    key: Key,
    /// The clock: nanoseconds that never go back.
    clock: fn() -> u64,
    /// The address of each rank.
    pub(crate) addresses: Vec<SocketAddr>,
    listener: Listener,
    poller: Poller,
    /// The owner of each token. Index 0 belongs to the token [`FIRST`].
    owners: Slab<Owner>,
    /// The connection with each rank; `None` while there is no open connection.
    pub(crate) connections: Vec<Option<Box<Connection>>>,
    /// The time in nanoseconds from which on connections are accepted again, after there was no
    /// descriptor for one.
    pub(crate) accept_ns: Option<u64>,
    /// The ranks that are being connected with.
    asked: BTreeMap<u32, Asked>,
    /// The ranks that no connection can be made with, and why.
    unreachable: BTreeMap<u32, String>,
    /// The number of pending connections that this rank accepted. They have not proved the key yet.
    pub(crate) callers: usize,
    /// The number of connections for which the poller waits until they can be written.
    blocked: usize,
    /// The ranks for which bytes were written and not sent, each once.
    written: VecDeque<u32>,
    /// The ranks whose connection can be read, each once.
    ready: VecDeque<u32>,
    /// The number of reads since the system was last asked about all sockets.
    reads: u32,
    /// The rank whose connection is probably read next.
    forecast: Forecast,
    /// The bytes that were read last. `reading` says which of them are still to be handled.
    buffer: Box<[u8]>,
    reading: Option<Reading>,
    room: Room,
    /// The bytes that a rank may send to another rank before it is granted room.
    first_room: u64,
    /// True if messages may be of any communicator.
    has_communicators: bool,
    exchanged: Exchanged,
    /// The settings of the connections.
    conditions: Conditions,
    /// The time in nanoseconds of the last look for silent hosts. The next look follows some time
    /// later, while connections are open.
    looked_ns: u64,
    /// The first rank that was lost, the reason, and the time from which on the loss is reported.
    lost: Option<(u32, String, u64)>,
    /// Set if something changed since the last call of `progress`: a connection may have room for a
    /// message that it refused, or it has sent all bytes that it kept back.
    has_room: bool,
    /// Set when a connection was opened since the last call of `progress`.
    has_connected: bool,
    spare: Spare,
}

/// The owner of a token.
enum Owner {
    /// A pending connection, whose handshake goes on.
    PendingConnection(Box<PendingConnection>),
    /// The connection with a rank.
    Rank(u32),
}

/// A rank that is being connected with.
struct Asked {
    /// The token of the attempt; `None` between two attempts.
    token: Option<usize>,
    /// The time of the first attempt (`since_ns`), and of the next attempt (`next_ns`). Some
    /// failures set `since_ns` anew: see [`OPEN_NS`](crate::limits::OPEN_NS).
    since_ns: u64,
    next_ns: u64,
    /// The number of attempts that were open for some time and were then closed without an answer.
    closed: u32,
    /// The reason why the last attempt failed.
    failure: String,
}

/// Bytes in the buffer that are still to be handled.
#[derive(Clone, Copy)]
struct Reading {
    rank: u32,
    start: usize,
    end: usize,
    /// Set if the connection may have more bytes.
    is_full: bool,
}

impl TcpFabric {
    /// Creates the fabric of rank `own`. Other ranks reach it at `listener`. `addresses` has the
    /// address of each rank of the job. `clock` returns nanoseconds and never goes back.
    ///
    /// # Errors
    /// Those of the system.
    pub fn new(
        own: u32,
        addresses: Vec<SocketAddr>,
        listener: Listener,
        key: Key,
        clock: fn() -> u64,
    ) -> io::Result<Self> {
        let poller = Poller::new()?;
        poller.add(listener.as_fd(), LISTENER, false)?;
        let forecast = Forecast::new(addresses.len());
        Ok(Self {
            own,
            key,
            clock,
            listener,
            poller,
            owners: Slab::new(),
            connections: addresses.iter().map(|_| None).collect(),
            addresses,
            accept_ns: None,
            asked: BTreeMap::new(),
            unreachable: BTreeMap::new(),
            callers: 0,
            blocked: 0,
            written: VecDeque::new(),
            ready: VecDeque::new(),
            reads: 0,
            forecast,
            buffer: vec![0; READ_MAX].into(),
            reading: None,
            room: Room::default(),
            first_room: 0,
            has_communicators: false,
            exchanged: Exchanged::default(),
            conditions: Conditions::default(),
            looked_ns: 0,
            lost: None,
            has_room: false,
            has_connected: false,
            spare: Spare::default(),
        })
    }

    /// Lets each rank send `bytes` bytes of messages to another rank before it is granted room. So
    /// the first message between two ranks need not wait. All ranks of the job must set the same
    /// number, and have room for as many bytes from every other rank.
    pub fn with_first_room(mut self, bytes: u64) -> Self {
        self.first_room = bytes;
        self.room = Room::new(self.connections.len().saturating_sub(1), bytes);
        self
    }

    /// If `any` is true, messages may be of any communicator. Programs that open communicators at
    /// run time need this. By default, a message of another communicator than the job's ends the
    /// job.
    pub fn with_communicators(mut self, any: bool) -> Self {
        self.has_communicators = any;
        self
    }

    /// Sets how connections are made. All ranks of the job must have the same conditions.
    pub fn with_conditions(mut self, conditions: Conditions) -> Self {
        self.conditions = conditions;
        self
    }

    /// Returns the number of open connections.
    pub fn connections(&self) -> usize {
        self.owners.iter().filter(|(_, owner)| matches!(owner, Owner::Rank(_))).count()
    }

    /// Notes that a rank is lost, and ends its connection.
    fn lose(&mut self, rank: u32, why: String) {
        let clock = self.clock;
        self.lost.get_or_insert_with(|| (rank, why, clock() + REPORT_NS));
        self.close(rank);
    }

    /// Drops the connection with a rank.
    fn close(&mut self, rank: u32) {
        let Some(connection) = self.connections[rank as usize].take() else { return };
        self.owners.remove(connection.token - FIRST);
        self.blocked -= usize::from(connection.is_blocked);
        self.has_room |= connection.is_blocked || connection.is_refused;
        self.written.retain(|&other| other != rank);
        self.ready.retain(|&other| other != rank);
        self.reading = self.reading.filter(|reading| reading.rank != rank);
    }

    /// Notes that something was written for a rank.
    fn note_written(&mut self, rank: u32) {
        if let Some(connection) = &mut self.connections[rank as usize]
            && !std::mem::replace(&mut connection.is_written, true)
        {
            self.written.push_back(rank);
        }
    }

    /// Notes that the connection with a rank can be read.
    fn note_ready(&mut self, rank: u32) {
        if let Some(connection) = &mut self.connections[rank as usize]
            && !std::mem::replace(&mut connection.is_ready, true)
        {
            self.ready.push_back(rank);
        }
    }

    /// Sends the bytes that were written, with the grants of room that are due.
    fn flush_written(&mut self) {
        while let Some(rank) = self.written.pop_front() {
            self.flush(rank);
        }
    }

    fn flush(&mut self, rank: u32) {
        let Self { connections, room, exchanged, spare, .. } = self;
        let Some(connection) = &mut connections[rank as usize] else { return };
        connection.is_written = false;
        connection.grant(room, exchanged, spare);
        match connection.flush(spare) {
            Ok(()) => self.await_room(rank),
            Err(error) => self.fail_to_send(rank, error),
        }
    }

    /// Notes that sending to a rank failed. The rank's connection is then read: either its last
    /// bytes say that the rank has left, or reading reports the loss.
    fn fail_to_send(&mut self, rank: u32, error: Errno) {
        let Some(connection) = &mut self.connections[rank as usize] else { return };
        if connection.has_left {
            return;
        }
        if connection.failure.is_none() {
            connection.failure = Some(format!("sending failed: {}", io::Error::from(error)));
        }
        self.note_ready(rank);
    }

    /// Lets the poller tell when a connection can be written, if bytes wait to be sent on it.
    fn await_room(&mut self, rank: u32) {
        let Some(connection) = &mut self.connections[rank as usize] else { return };
        let is_blocked = connection.is_waiting;
        if !is_blocked {
            let was_refused = std::mem::take(&mut connection.is_refused);
            self.has_room |= connection.is_blocked || was_refused;
        }
        if std::mem::replace(&mut connection.is_blocked, is_blocked) != is_blocked {
            // This fails only without memory. The connection is then flushed with later messages.
            let _ = self.poller.set(connection.channel.as_fd(), connection.token, is_blocked);
            self.blocked = if is_blocked { self.blocked + 1 } else { self.blocked - 1 };
        }
    }

    /// Opens the connection with a rank on a socket whose handshake is complete.
    fn connect_open(&mut self, rank: u32, token: usize) {
        let Owner::PendingConnection(caller) =
            std::mem::replace(&mut self.owners[token - FIRST], Owner::Rank(rank))
        else {
            unreachable!("only a handshake completes")
        };
        let channel = caller.into_channel();
        let _ = self.poller.set(channel.as_fd(), token, false);
        let credit = Credit::new(self.first_room);
        self.connections[rank as usize] = Some(Box::new(Connection::new(channel, token, credit)));
        self.asked.remove(&rank);
        self.has_connected = true;
        // One more rank shares the room.
        self.room.set_sharers(self.connections());
        self.note_due_grants();
        self.note_written(rank);
        // An encrypted channel may hold the first messages already.
        self.note_ready(rank);
    }

    /// Notes the ranks that must get a new grant of their share.
    fn note_due_grants(&mut self) {
        let share = self.room.share();
        let due = (0..).zip(&self.connections).filter_map(|(rank, connection)| {
            connection.as_ref().filter(|one| one.credit.is_due(share)).map(|_| rank)
        });
        for rank in due.collect::<Vec<u32>>() {
            self.note_written(rank);
        }
    }
}

/// Tells all connected ranks that this rank leaves. A rank is not told if the system takes no more
/// bytes for it.
impl Drop for TcpFabric {
    fn drop(&mut self) {
        for connection in self.connections.iter_mut().flatten() {
            let bye = crate::wire::Item::Bye;
            if connection.outbox.has_room(&bye) {
                connection.outbox.append(&bye, &mut self.spare);
            }
            let _ = connection.flush(&mut self.spare);
        }
    }
}
