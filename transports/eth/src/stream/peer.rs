//! The connection with one rank.

use goal_esp::endpoint::{ConnectionId, Endpoint};
use goal_fabric::chunk::{Chunk, ChunkKind};
use goal_fabric::message::{Reader, Writer};
use goal_fabric::{Credit, Exchanged, Room};
use std::collections::VecDeque;

/// The most packets of a connection that may wait to be sent for the first time while another
/// message is written. One chunk has this many packets, so a message waits no longer than a chunk
/// takes.
const UNSENT_MAX: usize = 96;

/// The connection with one rank.
pub(super) struct Peer {
    pub(super) id: ConnectionId,
    pub(super) reader: Reader,
    writer: Writer,
    /// The bytes of the longest payload of a packet.
    payload_max: usize,
    /// Full packets that the endpoint has no room for yet.
    waiting: VecDeque<Vec<u8>>,
    /// The room for messages without a receive: what the other rank has granted, and what this rank
    /// has granted to it.
    pub(super) credit: Credit,
    /// Set while the rank is in [`Peers::written`](super::peers::Peers).
    pub(super) is_written: bool,
}

impl Peer {
    /// Returns a new connection, whose first chunk names the communicator.
    pub(super) fn new(
        id: ConnectionId,
        communicator: u32,
        credit: Credit,
        endpoint: &mut Endpoint,
    ) -> Self {
        let mut peer = Self {
            id,
            reader: Reader::default(),
            writer: Writer::default(),
            payload_max: endpoint.payload_max(id),
            waiting: VecDeque::new(),
            credit,
            is_written: false,
        };
        let first = Chunk { message: communicator, ..without_bytes(ChunkKind::Communicator, 0) };
        peer.write(&first, &[], endpoint);
        peer
    }

    /// Returns true if another message may be written.
    #[inline]
    pub(super) fn has_room(&self, endpoint: &Endpoint) -> bool {
        self.waiting.len() + endpoint.unsent(self.id) <= UNSENT_MAX
    }

    /// Returns the longest payload of a message that fits into one packet.
    pub(super) fn message_max(&self) -> usize {
        self.payload_max - Chunk::HEADER_LEN_MAX
    }

    /// Returns the longest payload of a part of a message that goes into one packet now: see
    /// [`Writer::room`].
    #[inline]
    pub(super) fn room(&self) -> usize {
        self.writer.room(self.payload_max)
    }

    /// Appends a chunk and returns the place for its bytes, as [`Writer::reserve`] does.
    #[inline]
    pub(super) fn place(&mut self, chunk: &Chunk, endpoint: &mut Endpoint) -> Option<&mut [u8]> {
        self.writer.reserve(chunk, self.payload_max, |packet| {
            self.waiting.push_back(packet);
            endpoint.empty_payload()
        })
    }

    /// Appends a chunk with its bytes.
    pub(super) fn write(&mut self, chunk: &Chunk, bytes: &[u8], endpoint: &mut Endpoint) {
        self.writer.write(chunk, bytes, self.payload_max, |packet| {
            self.waiting.push_back(packet);
            endpoint.empty_payload()
        });
    }

    /// Hands the endpoint everything that was written, with a new grant of `room` if one is due.
    /// Returns true if the endpoint had room for all of it.
    pub(super) fn push_packets(
        &mut self,
        endpoint: &mut Endpoint,
        room: &Room,
        exchanged: &mut Exchanged,
    ) -> bool {
        if self.credit.is_due(room.share()) {
            let allowed = self.credit.grant(room.settled_share());
            exchanged.sent += 1;
            self.write(&without_bytes(ChunkKind::Room, allowed), &[], endpoint);
        }
        let Self { id, writer, waiting, .. } = self;
        writer.flush(|packet| {
            waiting.push_back(packet);
            endpoint.empty_payload()
        });
        while let Some(packet) = waiting.pop_front() {
            if let Err(full) = endpoint.push(*id, packet, waiting.is_empty()) {
                waiting.push_front(full.0);
                return false;
            }
        }
        true
    }
}

/// Returns a chunk that carries one number and no bytes.
fn without_bytes(kind: ChunkKind, offset: u64) -> Chunk {
    Chunk { kind, len: 0, message: 0, receive: 0, offset, envelope: None }
}
