//! The other ranks of the job, and the connections with them.

use super::lost::LostPeer;
use super::peer::Peer;
use goal_engine::transport::Header;
use goal_esp::auth::Address;
use goal_esp::endpoint::{ConnectionId, Endpoint};
use goal_fabric::chunk::ChunkKind;
use goal_fabric::translate::{self, COMMUNICATOR};
use goal_fabric::{Credit, Exchanged, Room, StreamFault, kept};
use std::collections::{BTreeMap, VecDeque};

/// The most ranks that are asked for a connection at the same time. Requests are repeated. If many
/// ranks asked many others, the repeated requests would leave no time for the answers.
const ASKED_MAX: usize = 8;

/// The other ranks of the job, and the connections with them.
pub(super) struct Peers {
    /// The rank that this end of the streams belongs to.
    own: u32,
    /// The communicator that the streams of this rank name.
    pub(super) communicator: u32,
    /// True if messages may be of any communicator.
    pub(super) has_communicators: bool,
    /// The address of each rank.
    addresses: Vec<Address>,
    /// The rank at each address.
    ranks: BTreeMap<Address, u32>,
    /// The bytes of messages that a rank may send to another rank before that rank has granted any
    /// room.
    pub(super) first_room: u64,
    /// The connection with each rank; `None` while it is not open.
    pub(super) connections: Vec<Option<Box<Peer>>>,
    /// The rank at the other end of each connection.
    by_id: BTreeMap<ConnectionId, u32>,
    /// The ranks that were asked for a connection and have not answered.
    asked: BTreeMap<ConnectionId, u32>,
    /// The ranks for which something was written that the endpoint has not been given yet, each
    /// once.
    pub(super) written: Vec<u32>,
    /// The ranks that have connected lately. The flag is set once the engine had an opportunity to
    /// write a message to the rank. Bytes for the rank wait until then, so that the message shares
    /// the first packet.
    new: Vec<(u32, bool)>,
    /// The ranks from which the endpoint has a packet that can be read, each once.
    pub(super) readable: VecDeque<u32>,
    /// The first rank that was lost, and why.
    pub(super) lost: Option<(u32, LostPeer)>,
}

/// The result of reading a packet.
pub(super) struct Read {
    /// The number of messages in the packet.
    pub(super) messages: usize,
    /// The reason why the packet's sender is lost; `None` if the packet is in order.
    pub(super) fault: Option<LostPeer>,
}

impl Peers {
    /// Returns the peers of rank `own`, with no connection yet.
    pub(super) fn new(own: u32, addresses: Vec<Address>) -> Self {
        Self {
            own,
            communicator: COMMUNICATOR,
            has_communicators: false,
            first_room: 0,
            ranks: (0..).zip(&addresses).map(|(rank, &address)| (address, rank)).collect(),
            connections: addresses.iter().map(|_| None).collect(),
            addresses,
            by_id: BTreeMap::new(),
            asked: BTreeMap::new(),
            written: Vec::new(),
            new: Vec::new(),
            readable: VecDeque::new(),
            lost: None,
        }
    }

    /// Returns the rank that this end of the streams belongs to.
    pub(super) fn own(&self) -> u32 {
        self.own
    }

    /// Returns the connection with a rank; `None` if it is not open.
    #[inline]
    pub(super) fn get(&self, rank: u32) -> Option<&Peer> {
        self.connections[rank as usize].as_deref()
    }

    /// Returns the number of connections.
    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Returns the rank at the other end of a connection.
    #[inline]
    pub(super) fn rank_of(&self, id: ConnectionId) -> Option<u32> {
        self.by_id.get(&id).copied()
    }

    /// Asks a rank for a connection, unless [`ASKED_MAX`] ranks were asked and have not answered.
    /// After the loss of any rank, no rank is asked: a new connection with the lost rank would lack
    /// messages.
    pub(super) fn connect(&mut self, rank: u32, endpoint: &mut Endpoint, clock: &impl Fn() -> u64) {
        if self.lost.is_none()
            && self.asked.len() < ASKED_MAX
            && let Some(id) = endpoint.connect(clock(), self.addresses[rank as usize])
        {
            self.asked.insert(id, rank);
        }
    }

    /// Adds a connection that the endpoint has opened. Returns false if no rank has the address.
    pub(super) fn add(
        &mut self,
        id: ConnectionId,
        address: Address,
        endpoint: &mut Endpoint,
    ) -> bool {
        let Some(&rank) = self.ranks.get(&address) else { return false };
        let peer = Peer::new(id, self.communicator, Credit::new(self.first_room), endpoint);
        self.asked.remove(&id);
        self.connections[rank as usize] = Some(Box::new(peer));
        self.by_id.insert(id, rank);
        self.new.push((rank, false));
        true
    }

    /// Notes that the engine is about to write messages for all connected ranks.
    pub(super) fn offer(&mut self) {
        self.new.iter_mut().for_each(|(_, is_offered)| *is_offered = true);
    }

    /// Lets the first packets leave to the new ranks for which the engine could write messages. If
    /// `all`, lets them leave to all new ranks.
    pub(super) fn release(&mut self, all: bool) {
        while let Some(at) = self.new.iter().position(|&(_, is_offered)| all || is_offered) {
            let (rank, _) = self.new.swap_remove(at);
            self.note_written(rank);
        }
    }

    /// Returns true if the first packet to some rank waits for messages.
    pub(super) fn have_new(&self) -> bool {
        !self.new.is_empty()
    }

    /// Removes the request for a connection that failed. Returns the rank that was asked; `None` if
    /// there was no such request.
    pub(super) fn remove_asked(&mut self, id: ConnectionId) -> Option<u32> {
        self.asked.remove(&id)
    }

    /// Removes the connection with a rank that is lost. Returns its number, if there was one.
    pub(super) fn lose(&mut self, rank: u32, cause: LostPeer) -> Option<ConnectionId> {
        self.lost.get_or_insert((rank, cause));
        self.written.retain(|&other| other != rank);
        self.readable.retain(|&other| other != rank);
        self.new.retain(|&(other, _)| other != rank);
        let peer = self.connections[rank as usize].take()?;
        self.by_id.remove(&peer.id);
        Some(peer.id)
    }

    /// Notes that the connection with a rank has written bytes, or a grant, for the endpoint.
    #[inline]
    pub(super) fn note_written(&mut self, rank: u32) {
        if let Some(peer) = &mut self.connections[rank as usize]
            && !std::mem::replace(&mut peer.is_written, true)
        {
            self.written.push(rank);
        }
    }

    /// Notes the ranks that must get a new grant of their `share`. The first grant of each rank
    /// needs no note, because it is in the first packet.
    pub(super) fn note_due_grants(&mut self, share: u64) {
        for &rank in self.by_id.values() {
            if let Some(peer) = &mut self.connections[rank as usize]
                && !peer.credit.is_new()
                && peer.credit.is_due(share)
                && !std::mem::replace(&mut peer.is_written, true)
            {
                self.written.push(rank);
            }
        }
    }

    /// Hands the endpoint what was written, with the grants that are due, as far as the endpoint
    /// has room.
    pub(super) fn push_packets(
        &mut self,
        endpoint: &mut Endpoint,
        room: &Room,
        exchanged: &mut Exchanged,
    ) {
        let Self { connections, written, .. } = self;
        written.retain(|&rank| {
            let Some(peer) = &mut connections[rank as usize] else { return false };
            peer.is_written = !peer.push_packets(endpoint, room, exchanged);
            peer.is_written
        });
    }

    /// Calls `sink` with the messages of a packet from a connected rank.
    pub(super) fn read(
        &mut self,
        rank: u32,
        payload: &[u8],
        room: &mut Room,
        exchanged: &mut Exchanged,
        sink: &mut impl FnMut(&Header, &[u8]),
    ) -> Read {
        let (own, any) = (self.own, self.has_communicators);
        let peer = self.connections[rank as usize].as_mut().expect("the rank is connected");
        let Peer { reader, credit, .. } = &mut **peer;
        let (mut messages, mut fault) = (0, None);
        let read = reader.read(payload, |chunk, bytes| {
            if chunk.kind == ChunkKind::Room {
                return credit.set(chunk.offset);
            }
            let accepted = translate::header(chunk, rank, own, any).and_then(|header| {
                credit.arrive(kept(&header)).map_err(StreamFault::Overrun)?;
                Ok(header)
            });
            match accepted {
                Ok(header) if fault.is_none() => {
                    messages += 1;
                    room.use_up(kept(&header));
                    sink(&header, bytes);
                }
                Ok(_) => {}
                Err(cause) => fault = fault.or(Some(cause.into())),
            }
        });
        if !credit.is_new() && credit.is_due(room.share()) {
            self.note_written(rank);
        }
        match read {
            Ok(whole) if fault.is_none() => exchanged.taken += whole,
            Ok(_) => {}
            Err(broken) => fault = fault.or(Some(StreamFault::Stream(broken).into())),
        }
        Read { messages, fault }
    }
}
