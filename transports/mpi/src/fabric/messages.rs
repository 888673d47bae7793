//! The interfaces of the fabric to the engine and to ranks: [`Transport`] and [`Fabric`].

use super::MpiFabric;
use crate::limits::{MESSAGE_MAX, PACKET_MAX, PART_MAX, PAUSE_MAX_NS, PAUSE_MIN_NS};
use crate::packet::Packet;
use goal_engine::memory::Span;
use goal_engine::transport::{Full, Header, Sink, Transport};
use goal_fabric::{Exchanged, Fabric, kept, translate};
use std::os::fd::BorrowedFd;

impl Transport for MpiFabric {
    fn short_max(&self) -> usize {
        MESSAGE_MAX
    }

    fn payload_max(&mut self, _to: u32) -> usize {
        MESSAGE_MAX
    }

    fn part_max(&mut self, _to: u32) -> usize {
        PART_MAX
    }

    fn try_send_dyn(
        &mut self,
        to: u32,
        header: &Header,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<(), Full> {
        let chunk = translate::chunk(header, to);
        // The engine asks for the room first. A message beyond the grant would end the job.
        if self.lost.is_some() || kept(header) > self.peer(to).credit.left() {
            return Err(Full);
        }
        if !self.make_room(to, &chunk) {
            self.refused = Some(to);
            return Err(Full);
        }
        self.refused = None;
        let Self { peers, spare, .. } = self;
        let peer = peers[to as usize].as_mut().expect("it has room");
        peer.credit.spend(kept(header));
        let packet = peer.packet.get_or_insert_with(|| Packet::new(spare));
        fill(packet.append(&chunk));
        self.exchanged.sent += 1;
        // The receiver reads the first parts of a long message while the others are written.
        let is_large = packet.len >= PACKET_MAX / 2;
        if !is_large || !self.flush(to) {
            self.note_written(to);
        }
        Ok(())
    }

    fn poll_dyn(&mut self, messages_max: usize, sink: &mut dyn Sink) -> usize {
        // The engine has announced the room that the messages of earlier polls have left.
        self.room.settle();
        self.flush_written();
        let taken = self.deliver(messages_max, sink);
        if taken == 0 {
            self.flush_written();
        }
        taken
    }

    fn announce_room(&mut self, bytes: u64, _most: u64) {
        if self.room.announce(bytes) {
            self.note_due_grants();
        }
    }

    fn room(&self, to: u32) -> u64 {
        let peer = self.peers[to as usize].as_ref();
        peer.map_or(self.first_room, |peer| peer.credit.left())
    }

    fn pushed_max(&mut self, _to: u32, _bytes: Option<Span>) -> u64 {
        u64::MAX
    }
}

impl Fabric for MpiFabric {
    fn send_written(&mut self) {
        self.flush_written();
    }

    fn progress(&mut self) -> bool {
        self.flush_written();
        let has_arrived = self.reading.is_some() || self.arrive();
        self.pause_ns = match has_arrived {
            true => PAUSE_MIN_NS,
            false => (2 * self.pause_ns).min(PAUSE_MAX_NS),
        };
        self.next_ns = (self.clock)() + self.pause_ns;
        let has_room =
            |rank: u32| self.peers[rank as usize].as_ref().is_some_and(|peer| !peer.is_written);
        has_arrived || self.refused.is_some_and(has_room) || self.lost.is_some()
    }

    fn has_work(&self) -> bool {
        self.reading.is_some() || !self.written.is_empty()
    }

    fn has_unsent(&self) -> bool {
        !self.written.is_empty()
    }

    fn wake_ns(&self) -> Option<u64> {
        Some(self.next_ns)
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        Vec::new()
    }

    fn exchanged(&self) -> Exchanged {
        self.exchanged
    }

    fn lost(&self) -> Option<(u32, String)> {
        self.lost.clone()
    }
}
