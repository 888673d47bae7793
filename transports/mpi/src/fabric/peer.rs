//! The packets to one rank.

use crate::comm::Comm;
use crate::error::MpiError;
use crate::limits::{SPARE_MAX, UNDER_WAY_MAX};
use crate::packet::Packet;
use crate::transfer::Transfer;
use goal_fabric::chunk::{Chunk, ChunkKind};
use goal_fabric::{Credit, Exchanged, Room};
use std::collections::VecDeque;

/// A rank that messages were exchanged with.
pub(super) struct Peer {
    /// The room for messages without a receive: what the other rank has granted, and what this rank
    /// has granted to it.
    pub(super) credit: Credit,
    /// The packet that is being written.
    pub(super) packet: Option<Packet>,
    /// The packets that MPI has but has not sent completely.
    pub(super) under_way: VecDeque<Transfer>,
    /// Set while the rank is in the list `written` of [`MpiFabric`](super::MpiFabric).
    pub(super) is_written: bool,
}

impl Peer {
    pub(super) fn new(credit: Credit) -> Self {
        Self { credit, packet: None, under_way: VecDeque::new(), is_written: false }
    }

    /// Takes back the buffers of packets that MPI has sent.
    ///
    /// # Errors
    /// [`MpiError`].
    pub(super) fn reap(&mut self, spare: &mut Vec<Box<[u8]>>) -> Result<(), MpiError> {
        while let Some(first) = self.under_way.pop_front() {
            match first.test()? {
                Ok(sent) if spare.len() < SPARE_MAX => spare.push(sent.buffer),
                Ok(_) => {}
                Err(first) => {
                    self.under_way.push_front(first);
                    break;
                }
            }
        }
        Ok(())
    }

    /// Appends a grant of room if one is due, and hands the packet to MPI. Returns the number of
    /// packets that left, or `None` if too many are under way.
    ///
    /// # Errors
    /// [`MpiError`].
    pub(super) fn flush(
        &mut self,
        comm: &Comm,
        rank: u32,
        room: &Room,
        exchanged: &mut Exchanged,
        spare: &mut Vec<Box<[u8]>>,
    ) -> Result<Option<u64>, MpiError> {
        self.reap(spare)?;
        let is_due = self.credit.is_due(room.share());
        if self.packet.is_none() && !is_due {
            return Ok(Some(0));
        }
        if self.under_way.len() >= UNDER_WAY_MAX {
            return Ok(None);
        }
        let mut packet = self.packet.take().unwrap_or_else(|| Packet::new(spare));
        let kind = ChunkKind::Room;
        let mut grant = Chunk { kind, len: 0, message: 0, receive: 0, offset: 0, envelope: None };
        if is_due && packet.has_room(&grant) {
            grant.offset = self.credit.grant(room.settled_share());
            exchanged.sent += 1;
            packet.append(&grant);
        }
        self.under_way.push_back(Transfer::send(comm, rank, packet.buffer, packet.len)?);
        Ok(Some(1))
    }
}
