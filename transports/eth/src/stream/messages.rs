//! The interface to the engine: messages are written into packets and read from them.

use super::peer::Peer;
use super::{EspTransport, SHORT_MAX};
use crate::Driver;
use goal_engine::memory::Span;
use goal_engine::transport::{Full, Header, Sink, Transport};
use goal_fabric::{kept, translate};
use std::cell::Cell;

impl<D: Driver, C: Fn() -> u64> Transport for EspTransport<D, C> {
    fn short_max(&self) -> usize {
        SHORT_MAX
    }

    /// Returns the payload that one packet has room for. Such a payload is written into the packet
    /// and read from it without another copy.
    fn payload_max(&mut self, to: u32) -> usize {
        self.peers.get(to).map_or(SHORT_MAX, Peer::message_max)
    }

    fn part_max(&mut self, to: u32) -> usize {
        self.peers.get(to).map_or(SHORT_MAX, Peer::room)
    }

    fn try_send_dyn(
        &mut self,
        to: u32,
        header: &Header,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<(), Full> {
        debug_assert_ne!(to, self.peers.own(), "messages to oneself stay on the host");
        let Some(peer) = &mut self.peers.connections[to as usize] else {
            self.peers.connect(to, &mut self.endpoint, &self.clock);
            return Err(Full);
        };
        if !peer.has_room(&self.endpoint) {
            self.refused = Some(to);
            return Err(Full);
        }
        self.refused = None;
        // The engine asks for the room first. A message beyond the grant would end the job.
        if kept(header) > peer.credit.left() {
            return Err(Full);
        }
        peer.credit.spend(kept(header));
        self.exchanged.sent += 1;
        let chunk = translate::chunk(header, to);
        match peer.place(&chunk, &mut self.endpoint) {
            Some(place) => fill(place),
            None => {
                let len = chunk.len as usize;
                if self.bytes.len() < len {
                    self.bytes.resize(len, 0);
                }
                fill(&mut self.bytes[..len]);
                peer.write(&chunk, &self.bytes[..len], &mut self.endpoint);
            }
        }
        self.peers.note_written(to);
        Ok(())
    }

    fn poll_dyn(&mut self, messages_max: usize, sink: &mut dyn Sink) -> usize {
        // The engine has announced the room that the messages of earlier polls have left.
        self.room.settle();
        self.peers.release(false);
        let stop = Cell::new(false);
        let mut sink = |header: &Header, payload: &[u8]| {
            if sink.take(header, payload).is_break() {
                stop.set(true);
            }
        };
        let (now_ns, mut taken) = self.exchange(messages_max, &mut sink);
        while taken < messages_max
            && !stop.get()
            && let Some(rank) = self.peers.readable.pop_front()
        {
            taken += self.read(now_ns, rank, &mut sink);
        }
        self.transmit_rest(now_ns, taken > 0);
        self.peers.offer();
        taken
    }

    fn announce_room(&mut self, bytes: u64, _most: u64) {
        if self.room.announce(bytes) {
            self.peers.note_due_grants(self.room.share());
        }
    }

    fn room(&self, to: u32) -> u64 {
        self.peers.get(to).map_or(self.peers.first_room, |peer| peer.credit.left())
    }

    /// Returns `u64::MAX`: the transport sets no limit of its own to messages that are sent before
    /// their receives are posted. The receivers have granted room for them, and an answer takes
    /// longer than within a host.
    fn pushed_max(&mut self, _to: u32, _bytes: Option<Span>) -> u64 {
        u64::MAX
    }
}
