//! The interface to ranks: messages are written into outboxes and read from connections.

use super::TcpFabric;
use crate::limits::{MESSAGE_MAX, PART_MAX};
use crate::wire::Item;
use goal_engine::transport::{Full, Header};
use goal_fabric::{Exchanged, Fabric, kept, translate};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd};

impl Fabric for TcpFabric {
    fn short_max(&self) -> usize {
        MESSAGE_MAX
    }

    fn payload_max(&mut self, _to: u32) -> usize {
        MESSAGE_MAX
    }

    fn part_max(&mut self, _to: u32) -> usize {
        PART_MAX
    }

    fn try_send(
        &mut self,
        to: u32,
        header: &Header,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<(), Full> {
        let Some(connection) = &mut self.connections[to as usize] else {
            self.ask(to);
            return Err(Full);
        };
        if connection.has_left {
            self.lose(to, "it has left the job, and a message is for it".to_owned());
            return Err(Full);
        }
        let item = Item::Chunk(translate::chunk(header, to));
        if !connection.outbox.has_room(&item) {
            self.refused = Some(to);
            return Err(Full);
        }
        self.refused = None;
        // The engine asks for the room first. A message beyond the grant would end the job. A new
        // grant arrives as bytes, so it ends a sleep by itself.
        if kept(header) > connection.credit.left() {
            return Err(Full);
        }
        connection.credit.spend(kept(header));
        fill(connection.outbox.append(&item, &mut self.spare));
        self.exchanged.sent += 1;
        // The receiver reads the first parts of a long message while the others are written.
        if connection.outbox.len() >= PART_MAX {
            self.flush(to);
        } else {
            self.note_written(to);
        }
        Ok(())
    }

    fn poll(
        &mut self,
        messages_max: usize,
        sink: &mut dyn FnMut(&Header, &[u8]) -> ControlFlow<()>,
    ) -> usize {
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
        let connection = self.connections[to as usize].as_ref();
        connection.map_or(self.first_room, |connection| connection.credit.left())
    }

    fn pushed_max(&self, _to: u32) -> u64 {
        u64::MAX
    }

    fn send_written(&mut self) {
        self.flush_written();
    }

    fn progress(&mut self) -> bool {
        self.flush_written();
        self.look();
        self.tend();
        self.flush_written();
        let has_room =
            |rank: u32| self.connections[rank as usize].as_ref().is_some_and(|one| !one.is_waiting);
        let has_room = self.refused.is_some_and(has_room);
        std::mem::take(&mut self.has_connected)
            || has_room
            || self.reading.is_some()
            || !self.ready.is_empty()
            || self.lost.is_some()
    }

    fn has_work(&self) -> bool {
        self.reading.is_some() || !self.ready.is_empty() || !self.written.is_empty()
    }

    fn has_arrived(&self) -> bool {
        let is_due = || self.timer_ns().is_some_and(|timer_ns| timer_ns <= (self.clock)());
        self.has_work() || self.poller.is_ready() || is_due()
    }

    fn wake_ns(&self) -> Option<u64> {
        self.timer_ns()
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        vec![self.poller.as_fd()]
    }

    fn exchanged(&self) -> Exchanged {
        self.exchanged
    }

    fn lost(&self) -> Option<(u32, String)> {
        let (rank, why, from_ns) = self.lost.as_ref()?;
        ((self.clock)() >= *from_ns).then(|| (*rank, why.clone()))
    }

    fn unreachable(&self, rank: u32) -> Option<String> {
        self.unreachable.get(&rank).cloned()
    }
}
