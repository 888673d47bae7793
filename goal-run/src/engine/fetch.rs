//! Rendezvous on the receiver's side: read from the sender's memory where it can be reached, ask for the bytes otherwise.

use super::Engine;
use super::incoming::{Place, Receive};
use super::receive::payload_of;
use crate::memory::Span;
use crate::transport::{Header, Kind, Transport};

/// Bytes that one poll copies from peers' memory.
const BYTES_PER_POLL: usize = 1 << 20;
/// Bytes copied at a time: no message keeps others waiting for longer.
const CHUNK: usize = 256 << 10;

impl<T: Transport> Engine<T> {
    /// Goes on with messages whose receive is there and whose payload is with their sender. Whether there were some.
    pub(super) fn fetch(&mut self) -> bool {
        let mut left = BYTES_PER_POLL;
        let mut worked = false;
        while left > 0
            && let Some(key) = self.arrivals.direct.pop_front()
        {
            worked = true;
            let message = &self.arrivals.messages[key as usize];
            let Place::Receive(receive) = message.place else { unreachable!("its receive is there") };
            let (header, arrived) = (message.header, message.arrived as usize);
            if header.size == 0 {
                self.end_fetch(key, receive, &header);
                continue;
            }
            let Some(source) = self.reachable(&header, receive) else {
                let mut answer = Header::new(Kind::Cts, self.rank);
                answer.cookie = header.cookie;
                answer.offset = u64::from(key);
                self.send_control(header.source, answer);
                continue;
            };
            let end = source.len().min(arrived + CHUNK);
            let mut inside = self.split().1;
            source.part(arrived..end).read(|bytes| inside.store(receive, &header, arrived as u64, bytes));
            left = left.saturating_sub(end - arrived);
            if end < source.len() {
                self.arrivals.messages[key as usize].arrived = end as u64;
                self.arrivals.direct.push_back(key);
                continue;
            }
            self.end_fetch(key, receive, &header);
        }
        worked
    }

    /// The receive has all that it asked for.
    fn end_fetch(&mut self, key: u32, receive: Receive, header: &Header) {
        self.arrivals.messages.remove(key as usize);
        self.end_action(receive);
        let mut answer = Header::new(Kind::Fin, self.rank);
        answer.cookie = header.cookie;
        self.send_control(header.source, answer);
    }

    /// The sender's bytes, if they can be read from here. Bytes that the receive would overwrite while it reads them, which
    /// only a message to oneself can have, are sent instead.
    fn reachable(&self, header: &Header, receive: Receive) -> Option<Span> {
        if header.flags & Header::DIRECT == 0 {
            return None;
        }
        let source = self.transport.import(header.source, header.offset, header.size)?;
        let instance = &self.instances[receive.instance];
        let buffer = payload_of(instance, receive.action);
        instance.memory.is_disjoint(buffer, source).then_some(source)
    }
}
