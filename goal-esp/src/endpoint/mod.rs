//! One rank's end of ESP: all its connections, with their clocks and keys, between frames and
//! streams of packets.
//!
//! Whoever owns an [`Endpoint`] hands in frames and the time and takes out frames and events. After
//! each call of a `handle_` function, or of one that changes a connection, call
//!
//! 1. [`Endpoint::poll_transmit`] until it has no more frames,
//! 2. [`Endpoint::poll_event`] until it has no more events,
//! 3. [`Endpoint::poll_timeout`] for the time at which [`Endpoint::handle_timeout`] is to be
//!    called.
//!
//! Times are nanoseconds from any moment on and never go back. Each call does a bounded amount of
//! work: `handle_frame` that of one frame, `handle_timeout` that of the connections whose time has
//! come.

mod admission;
mod clock;
mod config;
mod connection;
mod event;
mod frames;
mod random;
mod receive;
mod rtt;
mod spare;
mod suspect;
#[cfg(test)]
mod tests;

pub use config::{Config, Timing};
pub use event::{ConnectionId, Event, Loss, Stats};

use crate::auth::{Address, Way};
use crate::limits::PAYLOAD_MAX;
use crate::wire::{Flags, Frame, Packet};
use connection::{Connection, Shared};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Bytes of the longest frame.
pub const FRAME_LEN_MAX: usize =
    Frame::<&[u8]>::HEADER_LEN + Packet::<&[u8]>::HEADER_LEN_MAX + PAYLOAD_MAX;

/// There is no room for another packet; [`Event::Writable`] or [`Event::Connected`] tells when
/// there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Full(
    /// The payload, back.
    pub Vec<u8>,
);

/// One rank's end of ESP.
pub struct Endpoint {
    shared: Shared,
    /// By the index in their id.
    connections: Vec<Option<Connection>>,
    free: Vec<u32>,
    /// Generations of indices that are free.
    generations: Vec<u32>,
    by_peer: BTreeMap<Address, u32>,
    /// When connections want to be looked at: at the latest then.
    deadlines: BTreeSet<(u64, u32)>,
    /// Those that may have something to send, and other deadlines, each once.
    touched: VecDeque<u32>,
    /// How many control a transfer.
    controlling: u32,
}

impl Endpoint {
    /// An endpoint without connections. Nobody must be able to guess `seed`.
    pub fn new(config: Config, seed: [u8; 32]) -> Self {
        debug_assert!(config.rules.are_possible());
        let handshake = config.job_key.handshake();
        let shared = Shared {
            config,
            handshake,
            random: random::Random::new(seed),
            stats: Stats::default(),
            events: VecDeque::new(),
            spare: spare::Spare::default(),
            lag: rtt::Lag::default(),
            communicators: BTreeSet::new(),
        };
        Self {
            shared,
            connections: Vec::new(),
            free: Vec::new(),
            generations: Vec::new(),
            by_peer: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            touched: VecDeque::new(),
            controlling: 0,
        }
    }

    /// What it was told.
    pub fn config(&self) -> &Config {
        &self.shared.config
    }

    /// What it has counted.
    pub fn stats(&self) -> Stats {
        self.shared.stats
    }

    /// Asks `peer` for a connection, unless there is one. [`Event::Connected`] or [`Event::Lost`]
    /// follows. `None` if there are too many peers.
    pub fn connect(&mut self, now_ns: u64, peer: Address) -> Option<ConnectionId> {
        let index = self.index_of(now_ns, peer)?;
        let connection = self.connections[index as usize].as_mut().expect("it is there");
        connection.connect(now_ns, &mut self.shared);
        let id = connection.id;
        self.settle(now_ns, index);
        Some(id)
    }

    /// Reads the streams of this communicator from now on, those included that wait for it. Streams
    /// of others are postponed: their peers are allowed no packets until the communicator is
    /// opened, and are lost ([`Loss::Communicator`]) if that takes longer than
    /// [`Timing::postpone_ns`]. Without [`Config::checks_communicators`], all streams are read.
    pub fn open_communicator(&mut self, now_ns: u64, communicator: u32) {
        self.shared.communicators.insert(communicator);
        for index in 0..self.connections.len() {
            if let Some(connection) = &mut self.connections[index]
                && connection.postponed.is_some_and(|of| of.communicator == communicator)
            {
                connection.admit();
                self.settle(now_ns, index as u32);
            }
        }
    }

    /// The longest payload of a packet for this connection in bytes; 0 if it is lost.
    pub fn payload_max(&self, id: ConnectionId) -> usize {
        self.of(id).map_or(0, |connection| connection.payload_max(&self.shared.config))
    }

    /// Packets that were appended and never sent. Who appends a chunk only while there is less than
    /// one of them lets no message wait longer than that for others.
    pub fn unsent(&self, id: ConnectionId) -> usize {
        self.of(id).map_or(0, Connection::unsent)
    }

    /// Appends a packet to the stream of a connection; `is_end` where a write ends with it. Its
    /// payload has from 1 to [`Endpoint::payload_max`] bytes. Packets that are appended before the
    /// next [`Endpoint::poll_transmit`] are one transfer.
    ///
    /// # Errors
    /// [`Full`], also before there is a connection and after it is lost.
    pub fn push(&mut self, id: ConnectionId, payload: Vec<u8>, is_end: bool) -> Result<(), Full> {
        let queued_max = 2 * usize::from(self.shared.config.rules.burst_length);
        let Some(connection) = self.of_mut(id) else { return Err(Full(payload)) };
        connection.push(payload, is_end, queued_max).map_err(Full)?;
        self.touch(id.index);
        Ok(())
    }

    /// The next packet's payload, in order; `None` if it is not there yet. What is not read holds
    /// back the peer.
    pub fn read(&mut self, now_ns: u64, id: ConnectionId) -> Option<Vec<u8>> {
        let connection = self.of_mut(id)?;
        let payload = connection.read()?;
        // Only where the stream has ended may the connection end with what was read.
        if connection.is_finished_told {
            self.settle(now_ns, id.index)
        } else {
            self.touch(id.index)
        }
        Some(payload)
    }

    /// Whether [`Endpoint::read`] has a packet. [`Event::Readable`] tells once when it has one
    /// again.
    pub fn is_readable(&self, id: ConnectionId) -> bool {
        self.of(id).is_some_and(Connection::is_readable)
    }

    /// An empty payload, whose memory may be that of one before.
    pub fn spare(&mut self) -> Vec<u8> {
        self.shared.spare.take()
    }

    /// Takes back a payload of [`Endpoint::read`] that nobody needs any more: its memory serves for
    /// others.
    pub fn recycle(&mut self, payload: Vec<u8>) {
        self.shared.spare.give(payload);
    }

    /// Ends the stream to the peer, after all that was appended. [`Event::Closed`] follows when the
    /// peer has done so too.
    pub fn close(&mut self, now_ns: u64, id: ConnectionId) {
        if let Some(machine) = self.of_mut(id).and_then(Connection::machine_mut) {
            machine.close();
            self.settle(now_ns, id.index);
        }
    }

    /// Gives a connection up. The id is of no use any more; no event follows.
    pub fn reset(&mut self, now_ns: u64, id: ConnectionId) {
        if let Some(connection) = self.of_mut(id) {
            connection.reset(now_ns);
            self.settle(now_ns, id.index);
        }
    }

    /// Takes a frame, with Ethernet's header, as it came from the interface. What is not for this
    /// endpoint, or is not what it must be, changes nothing but [`Endpoint::stats`].
    pub fn handle_frame(&mut self, now_ns: u64, frame: &[u8]) {
        self.handle(now_ns, frame, false);
    }

    /// The same, and [`Endpoint::read`] where the frame has the next payload of a connection,
    /// nothing before it is left to be read, and [`Endpoint::poll_event`] has nothing to tell: that
    /// payload, where it lies in the frame.
    pub fn read_frame<'a>(
        &mut self,
        now_ns: u64,
        frame: &'a [u8],
    ) -> Option<(ConnectionId, &'a [u8])> {
        self.handle(now_ns, frame, true)
    }

    fn handle<'a>(
        &mut self,
        now_ns: u64,
        bytes: &'a [u8],
        reads: bool,
    ) -> Option<(ConnectionId, &'a [u8])> {
        let Shared { config, stats, .. } = &mut self.shared;
        let Ok(frame) = Frame::new_checked(bytes) else {
            stats.malformed += 1;
            return None;
        };
        if frame.ethertype() != config.ethertype || frame.destination() != config.address.mac {
            stats.unknown += 1;
            return None;
        }
        let Ok(packet) = Packet::new_checked(frame.payload()) else {
            stats.malformed += 1;
            return None;
        };
        let peer = Address { mac: frame.source(), port: packet.source_port() };
        if packet.destination_port() != config.address.port || peer == config.address {
            stats.unknown += 1;
            return None;
        }
        let way = Way { source: frame.source(), destination: frame.destination() };
        let is_question = packet.flags() == Flags::SYN;
        let known = self.by_peer.get(&peer).copied();
        let index = match known {
            Some(index) => index,
            // Only who has the key of the job is remembered.
            None if is_question && self.shared.handshake.proves(way, 0, &packet) => {
                self.index_of(now_ns, peer)?
            }
            None => {
                let stats = &mut self.shared.stats;
                *(if is_question { &mut stats.unproven } else { &mut stats.unknown }) += 1;
                return None;
            }
        };
        let standing = share(&self.shared.config, self.by_peer.len() as u32);
        let connection = self.connections[index as usize].as_mut().expect("it is there");
        // As if it had a transfer, too.
        let share =
            share(&self.shared.config, self.controlling + u32::from(!connection.is_counted));
        if let Some(machine) = connection.machine_mut() {
            machine.set_share(share, standing);
        }
        let id = connection.id;
        // What has happened to a connection comes before what is read from it.
        let reads = reads && self.shared.events.is_empty();
        let is_read = connection.receive(now_ns, way, &packet, reads, &mut self.shared);
        self.settle(now_ns, index);
        let start = Frame::<&[u8]>::HEADER_LEN + packet.header_len();
        is_read.then(|| (id, &bytes[start..start + packet.payload_len()]))
    }

    /// Lets the timers pass whose time has come. See [`Endpoint::poll_timeout`].
    pub fn handle_timeout(&mut self, now_ns: u64) {
        while let Some(&(deadline_ns, index)) = self.deadlines.first()
            && deadline_ns <= now_ns
        {
            self.deadlines.pop_first();
            let connection = self.connections[index as usize].as_mut().expect("it is there");
            connection.registered_ns = None;
            connection.pass(now_ns, &mut self.shared);
            self.settle(now_ns, index);
        }
    }

    /// Writes the next frame to `out`, which has room for [`FRAME_LEN_MAX`] bytes; how many it has.
    /// To be called until there is none.
    pub fn poll_transmit(&mut self, now_ns: u64, out: &mut [u8]) -> Option<usize> {
        while let Some(index) = self.touched.pop_front() {
            // It may be gone.
            let Some(connection) = &mut self.connections[index as usize] else { continue };
            let len = connection.transmit(now_ns, out, &mut self.shared);
            if len.is_some() {
                self.touched.push_back(index);
                return len;
            }
            self.register(now_ns, index);
        }
        None
    }

    /// Whether [`Endpoint::poll_transmit`] has a frame. If not, there is no hurry to call it once
    /// more.
    #[inline]
    pub fn wants_transmit(&self) -> bool {
        let connection = |&index: &u32| self.connections[index as usize].as_ref();
        self.touched.iter().filter_map(connection).any(|connection| connection.slot.is_ready())
    }

    /// Whether [`Endpoint::poll_transmit`] is to be called, though it may be for the time of
    /// [`Endpoint::poll_timeout`] alone.
    #[inline]
    pub fn wants_poll(&self) -> bool {
        !self.touched.is_empty()
    }

    /// When [`Endpoint::handle_timeout`] is to be called next, once [`Endpoint::poll_transmit`] has
    /// no more frames; may be too early, never too late.
    #[inline]
    pub fn poll_timeout(&self) -> Option<u64> {
        self.deadlines.first().map(|&(deadline_ns, _)| deadline_ns)
    }

    /// What has happened; to be called until there is nothing.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.shared.events.pop_front()
    }

    fn of(&self, id: ConnectionId) -> Option<&Connection> {
        self.connections.get(id.index as usize)?.as_ref().filter(|connection| connection.id == id)
    }

    fn of_mut(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        self.connections
            .get_mut(id.index as usize)?
            .as_mut()
            .filter(|connection| connection.id == id)
    }

    /// The connection with a peer, made if there is none.
    fn index_of(&mut self, now_ns: u64, peer: Address) -> Option<u32> {
        if let Some(&index) = self.by_peer.get(&peer) {
            return Some(index);
        }
        if self.by_peer.len() >= self.shared.config.peers_max {
            return None;
        }
        let index = self.free.pop().unwrap_or_else(|| {
            self.connections.push(None);
            self.generations.push(0);
            self.connections.len() as u32 - 1
        });
        let id = ConnectionId { index, generation: self.generations[index as usize] };
        self.connections[index as usize] =
            Some(Connection::new(now_ns, id, peer, &mut self.shared));
        self.by_peer.insert(peer, index);
        Some(index)
    }

    /// Follows up on a change of a connection. Its deadline is noted when it has nothing more to
    /// send.
    fn settle(&mut self, now_ns: u64, index: u32) {
        let connection = self.connections[index as usize].as_mut().expect("it is there");
        if !connection.settle(now_ns, &mut self.shared) {
            self.remove(index);
            return;
        }
        let controls = connection.controls();
        if controls != connection.is_counted {
            connection.is_counted = controls;
            self.controlling = if controls { self.controlling + 1 } else { self.controlling - 1 };
        }
        self.touch(index);
    }

    /// A connection may have something to send, and another deadline.
    #[inline]
    fn touch(&mut self, index: u32) {
        let connection = self.connections[index as usize].as_mut().expect("it is there");
        if !std::mem::replace(&mut connection.is_touched, true) {
            self.touched.push_back(index);
        }
    }

    /// Notes the deadline of a connection. An earlier one that is noted already stays: looking too
    /// early does no harm.
    fn register(&mut self, now_ns: u64, index: u32) {
        let connection = self.connections[index as usize].as_mut().expect("it is there");
        connection.is_touched = false;
        connection.set_clock(now_ns, &self.shared.config.timing, self.shared.lag.ns());
        let deadline_ns = connection.deadline_ns(&self.shared);
        if connection.registered_ns.is_none_or(|registered_ns| deadline_ns < registered_ns) {
            if let Some(registered_ns) = connection.registered_ns.replace(deadline_ns) {
                self.deadlines.remove(&(registered_ns, index));
            }
            self.deadlines.insert((deadline_ns, index));
        }
    }

    fn remove(&mut self, index: u32) {
        let connection = self.connections[index as usize].take().expect("it is there");
        self.by_peer.remove(&connection.peer);
        if let Some(registered_ns) = connection.registered_ns {
            self.deadlines.remove(&(registered_ns, index));
        }
        self.controlling -= u32::from(connection.is_counted);
        self.generations[index as usize] = connection.id.generation.wrapping_add(1);
        self.free.push(index);
    }
}

/// Packets that may be on their way on each of `connections` connections: those of all together are
/// the budget.
fn share(config: &Config, connections: u32) -> u16 {
    let connections = connections.clamp(1, u16::MAX.into()) as u16;
    (config.budget / connections).clamp(1, config.rules.burst_length)
}
