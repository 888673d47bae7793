//! Reads connections, and passes their messages to the engine.

use super::{Reading, TcpFabric};
use crate::connection::Connection;
use crate::wire::Item;
use goal_engine::transport::Header;
use goal_esp::wire::ChunkKind;
use goal_fabric::{StreamFault, kept, translate};
use std::ops::ControlFlow;

/// The connections that one poll reads at most.
const READS_PER_POLL: usize = 4;

impl TcpFabric {
    /// Passes at most `messages_max` messages to `sink`. Returns their number.
    pub(super) fn deliver(
        &mut self,
        messages_max: usize,
        sink: &mut dyn FnMut(&Header, &[u8]) -> ControlFlow<()>,
    ) -> usize {
        let (mut taken, mut reads) = (0, 0);
        while taken < messages_max {
            let reading = match self.reading.take() {
                Some(reading) => reading,
                // After messages the engine goes on first: it may answer them.
                None if reads < READS_PER_POLL && (taken == 0 || !self.ready.is_empty()) => {
                    reads += 1;
                    match self.next_ready().and_then(|rank| self.fill(rank)) {
                        Some(reading) => reading,
                        None => break,
                    }
                }
                None => break,
            };
            if self.handle(reading, messages_max, &mut taken, sink).is_break() {
                break;
            }
        }
        taken
    }

    /// Returns the next rank whose connection may have bytes.
    fn next_ready(&mut self) -> Option<u32> {
        if self.ready.is_empty() {
            if let Some(rank) = self.forecast.next() {
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

    /// Reads bytes of a connection into the buffer, behind those that were kept.
    fn fill(&mut self, rank: u32) -> Option<Reading> {
        let connection = self.connections[rank as usize].as_mut()?;
        let start = connection.inbox.kept();
        let room = self.buffer.len() - start;
        match connection.channel.receive(&mut self.buffer[start..]) {
            Ok(Some(0)) => {
                let has_left = connection.has_left && !connection.inbox.is_open();
                if has_left {
                    self.close(rank);
                    return None;
                }
                self.lose(
                    rank,
                    "it closed the connection without a word, as a process that is killed does"
                        .to_owned(),
                );
                None
            }
            Ok(Some(taken)) => {
                connection.inbox.restore(&mut self.buffer);
                self.forecast.note_read(rank);
                let is_full = taken == room || connection.channel.may_hold_bytes();
                let end = start + taken;
                Some(Reading { rank, start: 0, end, is_full })
            }
            Ok(None) => None,
            Err(error) => {
                self.lose(rank, error.to_string());
                None
            }
        }
    }

    /// Handles bytes in the buffer. Breaks if the engine wants no more.
    fn handle(
        &mut self,
        reading: Reading,
        messages_max: usize,
        taken: &mut usize,
        sink: &mut dyn FnMut(&Header, &[u8]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Reading { rank, start, end, is_full } = reading;
        let Self { own, has_communicators, connections, buffer, room, exchanged, .. } = self;
        let Some(connection) = &mut connections[rank as usize] else {
            return ControlFlow::Continue(());
        };
        let Connection { inbox, credit, has_left, .. } = &mut **connection;
        let (mut fault, mut stopped) = (None, false);
        let read = inbox.read(&buffer[start..end], |item, bytes, is_end| {
            let chunk = match item {
                Item::Chunk(chunk) => chunk,
                Item::Bye => {
                    *has_left = true;
                    return ControlFlow::Break(());
                }
                Item::Put { .. } => {
                    fault = Some(StreamFault::Rank);
                    return ControlFlow::Break(());
                }
            };
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
                    stopped = sink(&header, bytes).is_break() || *taken >= messages_max;
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
