//! Reads connections, and passes their messages to the engine.

use super::{Reading, TcpFabric};
use crate::channel::ChannelError;
use crate::connection::Connection;
use crate::limits::{READ_AHEAD, READ_MAX, READS_PER_LOOK};
use crate::touch::touch_mut;
use crate::wire::Item;
use goal_engine::transport::Sink;
use goal_fabric::chunk::ChunkKind;
use goal_fabric::{StreamFault, kept, translate};
use rustix::io::Errno;
use std::ops::ControlFlow;

/// The most reads of connections in one poll.
const READS_PER_POLL: usize = 4;

impl TcpFabric {
    /// Passes at most `messages_max` messages to `sink`. Returns their number.
    pub(super) fn deliver(&mut self, messages_max: usize, sink: &mut dyn Sink) -> usize {
        let (mut taken, mut reads) = (0, 0);
        while taken < messages_max {
            if self.reading.is_none() {
                // When messages were passed on, the engine goes on first, because it may answer
                // them.
                if reads == READS_PER_POLL || taken > 0 && self.ready.is_empty() {
                    break;
                }
                reads += 1;
                let Some(rank) = self.next_ready() else { break };
                if self.read(rank, &mut taken, sink).is_break() {
                    break;
                }
            }
            if let Some(reading) = self.reading.take()
                && self.handle(reading, messages_max, &mut taken, sink).is_break()
            {
                break;
            }
        }
        taken
    }

    /// Returns the next rank whose connection may have bytes. Usually this is a forecast. While
    /// bytes wait to be sent, the system is asked instead, because it also tells which connections
    /// can be written. The system is also asked after some reads. So a rank that sends without a
    /// pause does not delay others.
    fn next_ready(&mut self) -> Option<u32> {
        let is_due = self.reads >= READS_PER_LOOK;
        if self.ready.is_empty() || is_due {
            if !is_due
                && self.blocked == 0
                && let Some(rank) = self.forecast.next()
            {
                return Some(rank);
            }
            self.look();
            self.tend();
        }
        let rank = self.ready.pop_front()?;
        if let Some(connection) = &mut self.connections[rank as usize] {
            connection.is_ready = false;
        }
        Some(rank)
    }

    /// Receives bytes of a connection. If the engine lends the memory where the bytes of the open
    /// item belong, they go there. Otherwise bytes go into the fabric's buffer. Breaks if there are
    /// no bytes, or if the engine wants no more messages.
    fn read(&mut self, rank: u32, taken: &mut usize, sink: &mut dyn Sink) -> ControlFlow<()> {
        if let Some(next) = self.place(rank, taken, sink) {
            return next;
        }
        let Some(connection) = &mut self.connections[rank as usize] else {
            return ControlFlow::Break(());
        };
        let is_open = connection.inbox.rest().is_some();
        let limit = if connection.expects_long && !is_open { READ_AHEAD } else { READ_MAX };
        let start = connection.inbox.kept();
        let room = limit.min(self.buffer.len() - start);
        let received = connection.channel.receive(&mut self.buffer[start..start + room]);
        let Some((len, is_full)) = self.received(rank, received, room) else {
            return ControlFlow::Break(());
        };
        if let Some(connection) = &mut self.connections[rank as usize] {
            connection.inbox.restore(&mut self.buffer);
        }
        self.reading = Some(Reading { rank, start: 0, end: start + len, is_full });
        ControlFlow::Continue(())
    }

    /// Receives bytes of the open item into memory that the engine lends, and the bytes behind the
    /// item into the fabric's buffer. Returns `None`, with no effect, if the engine lends no memory
    /// for the item.
    fn place(
        &mut self,
        rank: u32,
        taken: &mut usize,
        sink: &mut dyn Sink,
    ) -> Option<ControlFlow<()>> {
        let Self { own, has_communicators, connections, buffer, exchanged, .. } = self;
        let Connection { inbox, channel, .. } = &mut **connections[rank as usize].as_mut()?;
        let Item::Chunk(rest) = inbox.rest()? else { return None };
        // If the header is wrong, the error is reported where the item's bytes are handled.
        let header = translate::header(&rest, rank, *own, *has_communicators).ok()?;
        let room = rest.len as usize - inbox.kept() + READ_AHEAD;
        let (mut received, mut placed, mut ahead) = (Ok(None), 0, 0);
        let next = sink.place(&header, &mut |memory| {
            let kept = inbox.take_kept();
            let (first, others) = memory.split_at_mut(kept.len());
            first.copy_from_slice(&kept);
            received = channel.receive_pieces(others, &mut buffer[..READ_AHEAD]);
            if let Err(ChannelError::System(Errno::FAULT)) = received {
                touch_mut(others);
            }
            let len = received.as_ref().map_or(0, |len| len.unwrap_or(0));
            ahead = len.saturating_sub(others.len());
            placed = kept.len() + len - ahead;
            placed
        })?;
        if placed > 0 {
            *taken += 1;
            exchanged.taken += u64::from(inbox.note_handled(placed));
        }
        let Some((_, is_full)) = self.received(rank, received, room) else {
            return Some(ControlFlow::Break(()));
        };
        if ahead > 0 {
            self.reading = Some(Reading { rank, start: 0, end: ahead, is_full });
        } else if is_full {
            self.note_ready(rank);
        }
        Some(next)
    }

    /// Handles the result of a call that received bytes with room for `room` bytes. Returns the
    /// number of bytes, and true if the connection may have more. Returns `None` if there were no
    /// bytes.
    fn received(
        &mut self,
        rank: u32,
        received: Result<Option<usize>, ChannelError>,
        room: usize,
    ) -> Option<(usize, bool)> {
        let connection = self.connections[rank as usize].as_mut()?;
        let why = match received {
            Ok(None) if connection.failure.is_none() => return None,
            // If a rank leaves before it has read all bytes of this rank, its system sends an
            // error.
            Ok(Some(0)) | Err(_) if connection.has_left && !connection.inbox.is_open() => {
                self.close(rank);
                return None;
            }
            Ok(Some(len)) if len > 0 => {
                self.reads += 1;
                let is_full = len == room || connection.channel.may_hold_bytes();
                self.forecast.note_read(rank);
                return Some((len, is_full));
            }
            ended => connection.failure.take().unwrap_or_else(|| match ended {
                Err(error) => error.to_string(),
                Ok(_) => {
                    "it closed the connection without a word, as a process that is killed does"
                        .to_owned()
                }
            }),
        };
        self.lose(rank, why);
        None
    }

    /// Handles the items in the fabric's buffer, and passes their messages to `sink`. Breaks if the
    /// engine wants no more messages.
    fn handle(
        &mut self,
        reading: Reading,
        messages_max: usize,
        taken: &mut usize,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let Reading { rank, start, end, is_full } = reading;
        let Self { own, has_communicators, connections, buffer, room, exchanged, .. } = self;
        let Some(connection) = &mut connections[rank as usize] else {
            return ControlFlow::Continue(());
        };
        let Connection { inbox, credit, has_left, expects_long, .. } = &mut **connection;
        let (mut fault, mut stopped, mut has_long) = (None, false, false);
        let read = inbox.read(&buffer[start..end], |item, bytes, is_end| {
            let chunk = match item {
                Item::Chunk(chunk) => chunk,
                Item::Bye => {
                    *has_left = true;
                    return ControlFlow::Break(());
                }
            };
            has_long |= item.comes_in_pieces() && bytes.len() >= READ_AHEAD;
            exchanged.taken += u64::from(is_end);
            if chunk.kind == ChunkKind::Room {
                credit.set(chunk.offset);
                return ControlFlow::Continue(());
            }
            let accepted =
                translate::header(chunk, rank, *own, *has_communicators).and_then(|header| {
                    credit.arrive(kept(&header)).map_err(StreamFault::Overrun)?;
                    Ok(header)
                });
            match accepted {
                Ok(header) => {
                    room.use_up(kept(&header));
                    *taken += 1;
                    stopped = sink.take(&header, bytes).is_break() || *taken >= messages_max;
                    if stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                }
                Err(cause) => {
                    fault = Some(cause);
                    ControlFlow::Break(())
                }
            }
        });
        let handled =
            read.map_err(StreamFault::Stream).and_then(|handled| fault.map_or(Ok(handled), Err));
        let handled = match handled {
            Ok(handled) => start + handled,
            Err(fault) => {
                self.lose(rank, fault.to_string());
                return ControlFlow::Continue(());
            }
        };
        if has_long || inbox.rest().is_some() {
            *expects_long = true;
        } else if is_full {
            *expects_long = false;
        }
        let is_due = !credit.is_new() && credit.is_due(room.share());
        if stopped && handled < end {
            self.reading = Some(Reading { start: handled, ..reading });
        } else {
            inbox.keep(&buffer[handled..end]);
            if is_full {
                self.note_ready(rank);
            }
        }
        if is_due {
            self.note_written(rank);
        }
        if stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
