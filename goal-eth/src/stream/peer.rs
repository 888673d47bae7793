//! A connection to a rank.

use super::credit::Credit;
use goal_esp::endpoint::{ConnectionId, Endpoint};
use goal_esp::message::{Reader, Writer};
use goal_esp::wire::{Chunk, ChunkKind};
use std::collections::VecDeque;

/// A connection to a rank.
pub(super) struct Peer {
    pub(super) id: ConnectionId,
    pub(super) reader: Reader,
    writer: Writer,
    /// Longest payload of a packet.
    payload_max: usize,
    /// Packets that are full, until the endpoint has room for them.
    waiting: VecDeque<Vec<u8>>,
    /// Room for messages without a receive, there and here.
    pub(super) credit: Credit,
    /// Something was written that the endpoint does not have: the transport knows that it is to be
    /// flushed.
    pub(super) is_written: bool,
}

impl Peer {
    /// A new connection, whose first chunk names the communicator.
    pub(super) fn new(id: ConnectionId, communicator: u32, endpoint: &mut Endpoint) -> Self {
        let mut peer = Self {
            id,
            reader: Reader::default(),
            writer: Writer::default(),
            payload_max: endpoint.payload_max(id),
            waiting: VecDeque::new(),
            credit: Credit::default(),
            is_written: false,
        };
        let first = Chunk { message: communicator, ..bare(ChunkKind::Communicator, 0) };
        peer.write(&first, &[], endpoint);
        peer
    }

    /// Packets that the endpoint does not have.
    #[inline]
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Bytes of a whole message for which a packet has room.
    pub(super) fn message_max(&self) -> usize {
        self.payload_max - Chunk::HEADER_LEN_MAX
    }

    /// See [`Writer::room`].
    #[inline]
    pub(super) fn room(&self) -> usize {
        self.writer.room(self.payload_max)
    }

    /// See [`Writer::reserve`].
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

    /// Gives the endpoint what was written, and before that the rank's share of the room here, or
    /// what is settled of it. Whether that was all.
    pub(super) fn flush(
        &mut self,
        endpoint: &mut Endpoint,
        (share, settled): (u64, u64),
        sent: &mut u64,
    ) -> bool {
        if self.credit.is_due(share) {
            let allowed = self.credit.grant(settled);
            *sent += 1;
            self.write(&bare(ChunkKind::Room, allowed), &[], endpoint);
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

/// A chunk that carries a number only.
fn bare(kind: ChunkKind, offset: u64) -> Chunk {
    Chunk { kind, len: 0, message: 0, receive: 0, offset, envelope: None }
}
