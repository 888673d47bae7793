//! Reads packets, and passes their messages to the engine.

use super::{MpiFabric, Reading};
use crate::packet::next;
use crate::transfer::{Arrived, Transfer};
use goal_engine::transport::Sink;
use goal_fabric::chunk::ChunkKind;
use goal_fabric::{StreamFault, kept, translate};
use std::ops::ControlFlow;

impl MpiFabric {
    /// Passes at most `messages_max` messages to `sink`. Returns the number of messages passed.
    pub(super) fn deliver(&mut self, messages_max: usize, sink: &mut dyn Sink) -> usize {
        let mut taken = 0;
        while taken < messages_max && (self.reading.is_some() || self.arrive()) {
            let Some(mut reading) = self.reading.take() else { break };
            let source = reading.source;
            match self.read(&mut reading, messages_max, &mut taken, sink) {
                Ok(flow) => {
                    match reading.start >= reading.len {
                        true => self.post(reading.buffer),
                        false => self.reading = Some(reading),
                    }
                    if flow.is_break() {
                        break;
                    }
                }
                Err(fault) => {
                    self.lose(source, fault.to_string());
                    break;
                }
            }
        }
        taken
    }

    /// Takes the packet of the first posted receive, if this receive is complete. Returns true if
    /// there is a packet to read afterwards.
    pub(super) fn arrive(&mut self) -> bool {
        if self.lost.is_some() {
            return false;
        }
        let Some(first) = self.receives.pop_front() else { return false };
        match first.test() {
            Ok(Err(first)) => self.receives.push_front(first),
            Ok(Ok(Arrived { source, len, buffer })) if (source as usize) < self.peers.len() => {
                self.packets_taken[source as usize] += 1;
                self.peer(source);
                self.reading = Some(Reading { source, buffer, start: 0, len });
            }
            Ok(Ok(Arrived { source, .. })) => {
                self.lose(self.own, format!("a packet came from rank {source}, which MPI lacks"));
            }
            Err(error) => self.lose(self.own, error.to_string()),
        }
        self.reading.is_some()
    }

    /// Posts a receive with `buffer`, behind the other posted receives.
    pub(super) fn post(&mut self, buffer: Box<[u8]>) {
        match Transfer::receive(&self.comm, buffer) {
            Ok(receive) => self.receives.push_back(receive),
            Err(error) => self.lose(self.own, error.to_string()),
        }
    }

    /// Reads a packet from `reading.start` on, and moves `reading.start` behind each chunk. Returns
    /// `Break` if the engine wants no more messages now.
    ///
    /// # Errors
    /// [`StreamFault`].
    fn read(
        &mut self,
        reading: &mut Reading,
        messages_max: usize,
        taken: &mut usize,
        sink: &mut dyn Sink,
    ) -> Result<ControlFlow<()>, StreamFault> {
        let Self { own, has_communicators, peers, room, exchanged, .. } = self;
        let peer = peers[reading.source as usize].as_mut().expect("it was made on arrival");
        let mut stopped = false;
        while reading.start < reading.len && !stopped {
            let rest = &reading.buffer[reading.start..reading.len];
            let (chunk, bytes, behind) = next(rest)?;
            exchanged.taken += 1;
            if chunk.kind == ChunkKind::Room {
                peer.credit.set(chunk.offset);
            } else {
                let header = translate::header(&chunk, reading.source, *own, *has_communicators)?;
                peer.credit.arrive(kept(&header)).map_err(StreamFault::Overrun)?;
                room.use_up(kept(&header));
                *taken += 1;
                stopped = sink.take(&header, bytes).is_break() || *taken >= messages_max;
            }
            reading.start = reading.len - behind.len();
        }
        if !peer.credit.is_new() && peer.credit.is_due(room.share()) {
            self.note_written(reading.source);
        }
        Ok(if stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}
