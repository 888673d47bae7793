//! The interface to ranks: messages are written into outboxes and read from connections.

use super::TcpFabric;
use crate::connection::Connection;
use crate::limits::{MESSAGE_MAX, PART_MAX, PART_ZCOPY_MAX, ZCOPY_MIN};
use crate::touch::touch;
use crate::wire::Item;
use goal_engine::memory::{Span, copy};
use goal_engine::transport::{Full, Header, Sink, Transport};
use goal_fabric::{Exchanged, Fabric, kept, translate};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd};

impl TcpFabric {
    /// Returns the item of a message to rank `to`, or [`Full`] if the message can't be sent now.
    /// Begins to connect if there is no connection.
    fn item(&mut self, to: u32, header: &Header) -> Result<Item, Full> {
        let Some(connection) = &mut self.connections[to as usize] else {
            self.ask(to);
            return Err(Full);
        };
        if connection.has_left {
            self.lose(to, "it has left the job, and a message is for it".to_owned());
            return Err(Full);
        }
        // The engine asks for the room first. A message beyond the grant would end the job. A new
        // grant arrives as bytes, so its arrival ends a sleep.
        if kept(header) > connection.credit.left() {
            return Err(Full);
        }
        Ok(Item::Chunk(translate::chunk(header, to)))
    }
}

/// Returns the most bytes of the next part that is sent without a copy. The limit of the previous
/// part was `part` bytes. The system did not take `left` bytes of that part, so these bytes were
/// copied.
fn part_after(part: usize, left: usize) -> usize {
    match left {
        0 => (2 * part).min(PART_ZCOPY_MAX),
        _ => (part / 2).max(PART_MAX),
    }
}

impl Transport for TcpFabric {
    fn short_max(&self) -> usize {
        MESSAGE_MAX
    }

    fn payload_max(&mut self, _to: u32) -> usize {
        MESSAGE_MAX
    }

    fn part_max(&mut self, _to: u32) -> usize {
        PART_MAX
    }

    fn zcopy_max(&mut self, to: u32) -> usize {
        let connection = self.connections[to as usize].as_ref();
        let plain = connection.filter(|one| one.channel.plain().is_some());
        plain.map_or(PART_MAX, |one| one.part)
    }

    fn try_send_dyn(
        &mut self,
        to: u32,
        header: &Header,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<(), Full> {
        let item = self.item(to, header)?;
        let Some(connection) = &mut self.connections[to as usize] else { return Err(Full) };
        if !connection.outbox.has_room(&item) {
            connection.is_refused = true;
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

    /// Long payloads go from the caller's memory to the system at once. Bytes that the system does
    /// not take are copied, because the caller may change the payload. Further payloads are refused
    /// until the system has room.
    fn try_send_zcopy(&mut self, to: u32, header: &Header, payload: &[u8]) -> Result<(), Full> {
        let is_plain = |one: &Connection| one.channel.plain().is_some();
        let open = self.connections[to as usize].as_deref_mut();
        let Some(connection) = open.filter(|one| payload.len() >= ZCOPY_MIN && is_plain(one))
        else {
            return self.try_send_dyn(to, header, &mut |out| copy(out, payload));
        };
        if connection.is_waiting {
            connection.is_refused = true;
            return Err(Full);
        }
        connection.grant(&self.room, &mut self.exchanged, &mut self.spare);
        let Ok(item) = self.item(to, header) else {
            // The grant that was appended may have to leave.
            self.note_written(to);
            return Err(Full);
        };
        let Some(Connection { channel, outbox, credit, is_waiting, is_refused, part, .. }) =
            self.connections[to as usize].as_deref_mut()
        else {
            return Err(Full);
        };
        let Some(socket) = channel.plain() else { return Err(Full) };
        let sent = outbox.send(&item, payload, socket, &mut self.spare);
        *is_waiting = outbox.len() > 0 || sent == Err(Errno::AGAIN);
        *part = part_after(*part, outbox.len());
        match sent {
            Ok(()) => {
                credit.spend(kept(header));
                self.exchanged.sent += 1;
            }
            Err(Errno::AGAIN) => *is_refused = true,
            Err(Errno::FAULT) => {
                // The payload is not there: that is the fault of this process, and not the peer's.
                touch(payload);
                self.fail_to_send(to, Errno::FAULT);
            }
            Err(error) => self.fail_to_send(to, error),
        }
        self.await_room(to);
        sent.map_err(|_| Full)
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
        let connection = self.connections[to as usize].as_ref();
        connection.map_or(self.first_room, |connection| connection.credit.left())
    }

    fn pushed_max(&mut self, _to: u32, _bytes: Option<Span>) -> u64 {
        u64::MAX
    }
}

impl Fabric for TcpFabric {
    fn send_written(&mut self) {
        self.flush_written();
    }

    fn progress(&mut self) -> bool {
        self.flush_written();
        self.look();
        self.tend();
        self.flush_written();
        let has_connected = std::mem::take(&mut self.has_connected);
        let has_room = std::mem::take(&mut self.has_room);
        has_connected
            || has_room
            || self.reading.is_some()
            || !self.ready.is_empty()
            || self.lost.is_some()
    }

    fn kept_back(&self) -> Vec<u32> {
        if self.blocked == 0 {
            return Vec::new();
        }
        // Bytes that a plain connection refused stay with their sender, not in the fabric's
        // buffers.
        let keeps = |one: &Connection| {
            one.is_waiting && (one.outbox.len() > 0 || one.channel.plain().is_none())
        };
        let all = (0..).zip(&self.connections);
        all.filter(|(_, one)| one.as_deref().is_some_and(keeps)).map(|(rank, _)| rank).collect()
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
