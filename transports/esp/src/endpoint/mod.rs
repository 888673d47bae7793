//! One rank's end of ESP: its connections with their timers and keys, between frames on one side
//! and streams of packets on the other.
//!
//! The owner of an [`Endpoint`] passes in frames and the time, and takes out frames and events.
//! After each call of a `handle_` function, or of a function that changes a connection, the owner
//! must call
//!
//! 1. [`Endpoint::poll_transmit`] until it has no more frames,
//! 2. [`Endpoint::poll_event`] until it has no more events,
//! 3. [`Endpoint::poll_timeout`] for the time at which [`Endpoint::handle_timeout`] is to be
//!    called.
//!
//! Times are nanoseconds since any fixed moment and never go back. Each call does a bounded amount
//! of work: `handle_frame` handles one frame, and `handle_timeout` handles the connections with an
//! expired timer.

mod admission;
mod check;
mod clock;
mod config;
mod connection;
mod event;
mod frames;
mod liveness;
mod random;
mod receive;
mod rtt;
mod seals;
mod spare;
mod suspect;
mod table;
#[cfg(test)]
mod tests;
mod transmit;

pub use crate::transfer::Rules;
pub use config::{Config, Timing};
pub use event::{ConnectionId, Event, Loss, Stats};
pub use seals::{CHECKED_MAX, Checked, Seals};

use crate::auth::{Address, Route};
use crate::limits::PAYLOAD_MAX;
use crate::wire::{Flags, Frame, Packet};
use connection::{Connection, Shared};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The length of the longest frame in bytes.
pub const FRAME_LEN_MAX: usize =
    Frame::<&[u8]>::HEADER_LEN + Packet::<&[u8]>::HEADER_LEN_MAX + PAYLOAD_MAX;

/// The send queue of a connection is full. [`Event::Writable`] or [`Event::Connected`] follows when
/// it has room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Full(
    /// The payload that was not appended.
    pub Vec<u8>,
);

/// One rank's end of ESP.
pub struct Endpoint {
    shared: Shared,
    /// The connections, by the index in their id.
    connections: Vec<Option<Connection>>,
    free: Vec<u32>,
    /// The next generation of each index that is free.
    generations: Vec<u32>,
    by_peer: BTreeMap<Address, u32>,
    /// The time at which each connection needs [`Endpoint::handle_timeout`], with the connection's
    /// index. The time may be too early, but never too late.
    deadlines: BTreeSet<(u64, u32)>,
    /// The connections that may have a frame to send, or an earlier deadline; each once.
    touched: VecDeque<u32>,
    /// The number of connections on which the peer's transfer is in progress.
    controlling: u32,
}

impl Endpoint {
    /// Creates an endpoint without connections. `seed` must be unpredictable.
    pub fn new(config: Config, seed: [u8; 32]) -> Self {
        debug_assert!(config.rules.are_consistent());
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

    /// Returns the configuration.
    pub fn config(&self) -> &Config {
        &self.shared.config
    }

    /// Returns the counters.
    pub fn stats(&self) -> Stats {
        self.shared.stats
    }

    /// Asks `peer` for a connection, unless there is one. [`Event::Connected`] or [`Event::Lost`]
    /// follows. Returns `None` if there are too many peers.
    pub fn connect(&mut self, now_ns: u64, peer: Address) -> Option<ConnectionId> {
        let index = self.index_of(now_ns, peer)?;
        let connection = self.connections[index as usize].as_mut().expect("it is there");
        connection.connect(now_ns, &mut self.shared);
        let id = connection.id;
        self.update(now_ns, index);
        Some(id)
    }

    /// Opens a communicator: its streams are read from now on, including streams that already wait
    /// for it. A stream of a communicator that is not open is postponed: its peer may send no
    /// packets. If the communicator is not opened within [`Timing::postpone_ns`], the connection is
    /// lost ([`Loss::Communicator`]). Without [`Config::checks_communicators`], all streams are
    /// read.
    pub fn open_communicator(&mut self, now_ns: u64, communicator: u32) {
        self.shared.communicators.insert(communicator);
        for index in 0..self.connections.len() {
            if let Some(connection) = &mut self.connections[index]
                && connection.postponed.is_some_and(|of| of.communicator == communicator)
            {
                connection.admit();
                self.update(now_ns, index as u32);
            }
        }
    }

    /// Returns the longest payload of a packet for this connection, in bytes; 0 if the connection
    /// is lost.
    pub fn payload_max(&self, id: ConnectionId) -> usize {
        self.of(id).map_or(0, |connection| connection.payload_max(&self.shared.config))
    }

    /// Returns the number of packets that were appended and never sent. If a caller appends only
    /// while this number is 0, a message waits behind other messages for one packet at most.
    pub fn unsent(&self, id: ConnectionId) -> usize {
        self.of(id).map_or(0, Connection::unsent)
    }

    /// Appends a packet to the stream of a connection. `is_end` is true if a write ends with it.
    /// The payload must have 1 to [`Endpoint::payload_max`] bytes. Packets that are appended before
    /// the next [`Endpoint::poll_transmit`] form one transfer.
    ///
    /// # Errors
    /// [`Full`]. Also before the connection is established and after it is lost.
    pub fn push(&mut self, id: ConnectionId, payload: Vec<u8>, is_end: bool) -> Result<(), Full> {
        let queued_max = 2 * usize::from(self.shared.config.rules.burst_length);
        let Some(connection) = self.of_mut(id) else { return Err(Full(payload)) };
        connection.push(payload, is_end, queued_max).map_err(Full)?;
        self.mark_touched(id.index);
        Ok(())
    }

    /// Returns the payload of the next packet in order, or `None` if it has not arrived. Packets
    /// that are not read take room, so the peer has to wait.
    pub fn read(&mut self, now_ns: u64, id: ConnectionId) -> Option<Vec<u8>> {
        let connection = self.of_mut(id)?;
        let payload = connection.read()?;
        // The connection can end by a read only if its stream has ended.
        if connection.is_finished_told {
            self.update(now_ns, id.index)
        } else {
            self.mark_touched(id.index)
        }
        Some(payload)
    }

    /// Returns true if [`Endpoint::read`] has a packet. [`Event::Readable`] is reported once when
    /// this becomes true.
    pub fn is_readable(&self, id: ConnectionId) -> bool {
        self.of(id).is_some_and(Connection::is_readable)
    }

    /// Returns true while a peer's transfer is in progress: packets of it have arrived, and others
    /// are on their way.
    #[inline]
    pub fn is_receiving(&self) -> bool {
        self.controlling > 0
    }

    /// Returns an empty payload, with the memory of a recycled one if possible.
    pub fn empty_payload(&mut self) -> Vec<u8> {
        self.shared.spare.take()
    }

    /// Takes back a payload of [`Endpoint::read`], to use its memory again.
    pub fn recycle(&mut self, payload: Vec<u8>) {
        self.shared.spare.put(payload);
    }

    /// Ends the stream to the peer, after all packets that were appended. [`Event::Closed`] follows
    /// when the peer has ended its stream too.
    pub fn close(&mut self, now_ns: u64, id: ConnectionId) {
        if let Some(machine) = self.of_mut(id).and_then(Connection::machine_mut) {
            machine.close();
            self.update(now_ns, id.index);
        }
    }

    /// Gives a connection up, and tells the peer once. The id becomes invalid, and no event
    /// follows.
    pub fn reset(&mut self, now_ns: u64, id: ConnectionId) {
        if let Some(connection) = self.of_mut(id) {
            connection.reset(now_ns);
            self.update(now_ns, id.index);
        }
    }

    /// Handles a frame, with Ethernet's header, as it came from the interface. A frame that is not
    /// for this endpoint, malformed or unauthenticated changes nothing but [`Endpoint::stats`].
    pub fn handle_frame(&mut self, now_ns: u64, frame: &[u8]) {
        self.handle(now_ns, frame, false, None);
    }

    /// Handles a frame as [`Endpoint::handle_frame`] does, and reads its payload in place if
    /// possible. Returns the payload if three things hold: this is the next payload of a
    /// connection, all payloads before it were read, and [`Endpoint::poll_event`] has no event.
    pub fn read_frame<'a>(
        &mut self,
        now_ns: u64,
        frame: &'a [u8],
    ) -> Option<(ConnectionId, &'a [u8])> {
        self.handle(now_ns, frame, true, None)
    }

    /// Handles a frame as [`Endpoint::read_frame`] does, or as [`Endpoint::handle_frame`] if
    /// `reads` is false. `checked` is the result of [`Endpoint::check`] for this frame.
    pub fn handle_checked<'a>(
        &mut self,
        now_ns: u64,
        frame: &'a [u8],
        reads: bool,
        checked: Option<Checked>,
    ) -> Option<(ConnectionId, &'a [u8])> {
        self.handle(now_ns, frame, reads, checked)
    }

    fn handle<'a>(
        &mut self,
        now_ns: u64,
        bytes: &'a [u8],
        reads: bool,
        checked: Option<Checked>,
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
        let way = Route { source: frame.source(), destination: frame.destination() };
        let is_question = packet.flags() == Flags::SYN;
        let known = self.by_peer.get(&peer).copied();
        let index = match known {
            Some(index) => index,
            // State is kept only for a peer that has the key of the job.
            None if is_question && self.shared.handshake.verifies(way, 0, &packet) => {
                self.index_of(now_ns, peer)?
            }
            None => {
                let stats = &mut self.shared.stats;
                *(if is_question { &mut stats.unproven } else { &mut stats.unknown }) += 1;
                return None;
            }
        };
        let start_window = self.shared.config.share(self.by_peer.len() as u32);
        let connection = self.connections[index as usize].as_mut().expect("it is there");
        // The share of a connection whose transfer begins now is counted too.
        let share = self.shared.config.share(self.controlling + u32::from(!connection.is_counted));
        if let Some(machine) = connection.machine_mut() {
            machine.set_share(share, start_window);
        }
        let id = connection.id;
        // Events about a connection come before the payloads that are read from it.
        let reads = reads && self.shared.events.is_empty();
        let is_read = connection.receive(now_ns, way, &packet, reads, checked, &mut self.shared);
        self.update(now_ns, index);
        let start = Frame::<&[u8]>::HEADER_LEN + packet.header_len();
        is_read.then(|| (id, &bytes[start..start + packet.payload_len()]))
    }

    /// Handles the timers that have expired. See [`Endpoint::poll_timeout`].
    pub fn handle_timeout(&mut self, now_ns: u64) {
        while let Some(&(deadline_ns, index)) = self.deadlines.first()
            && deadline_ns <= now_ns
        {
            self.deadlines.pop_first();
            let connection = self.connections[index as usize].as_mut().expect("it is there");
            connection.registered_ns = None;
            connection.expire_timers(now_ns, &mut self.shared);
            self.update(now_ns, index);
        }
    }

    /// Writes the next frame to `out` and returns its length in bytes. `out` must have room for
    /// [`FRAME_LEN_MAX`] bytes. The caller must call it until it returns `None`.
    pub fn poll_transmit(&mut self, now_ns: u64, out: &mut [u8]) -> Option<usize> {
        self.transmit(now_ns, out, None)
    }

    /// Writes the next frame as [`Endpoint::poll_transmit`] does, but leaves its tag to `seals`.
    /// The frame must not leave before [`Seals::seal`].
    pub fn poll_unsealed(
        &mut self,
        now_ns: u64,
        out: &mut [u8],
        seals: &mut Seals,
    ) -> Option<usize> {
        let number = seals.len() + 1;
        let len = self.transmit(now_ns, out, Some(seals))?;
        seals.end_frame(number);
        Some(len)
    }

    fn transmit(
        &mut self,
        now_ns: u64,
        out: &mut [u8],
        mut seals: Option<&mut Seals>,
    ) -> Option<usize> {
        while let Some(index) = self.touched.pop_front() {
            // The connection may have been removed.
            let Some(connection) = &mut self.connections[index as usize] else { continue };
            let len = connection.transmit(now_ns, out, seals.as_deref_mut(), &mut self.shared);
            if len.is_some() {
                self.touched.push_back(index);
                return len;
            }
            self.register_deadline(now_ns, index);
        }
        None
    }

    /// Returns true if [`Endpoint::poll_transmit`] has a frame. If there is none, the call may be
    /// put off for a while.
    #[inline]
    pub fn wants_transmit(&self) -> bool {
        let connection = |&index: &u32| self.connections[index as usize].as_ref();
        self.touched.iter().filter_map(connection).any(|connection| connection.slot.is_ready())
    }

    /// Returns true if [`Endpoint::poll_transmit`] must be called before [`Endpoint::poll_timeout`]
    /// returns the right time. There need not be a frame to send.
    #[inline]
    pub fn wants_poll(&self) -> bool {
        !self.touched.is_empty()
    }

    /// Returns the time at which [`Endpoint::handle_timeout`] must be called, once
    /// [`Endpoint::poll_transmit`] has no more frames. The time may be too early, but never too
    /// late. Returns `None` if there is no connection.
    #[inline]
    pub fn poll_timeout(&self) -> Option<u64> {
        self.deadlines.first().map(|&(deadline_ns, _)| deadline_ns)
    }

    /// Returns the next event. The caller must call it until it returns `None`.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.shared.events.pop_front()
    }
}
