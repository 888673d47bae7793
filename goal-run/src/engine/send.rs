//! Sends: eager, eager in parts, rendezvous; and whatever else leaves this rank.

use super::incoming::{Receive, kept_bytes};
use super::options::Options;
use super::outgoing::{Outgoing, Rendezvous, Stream};
use super::{Engine, Instance};
use crate::transport::{Full, Header, Kind, Transport};
use goal_asm::nisa::{Buffer, Operation};

/// Bytes of streams and long messages that one poll lets out.
const BYTES_PER_POLL: u64 = 1 << 20;

/// Bytes of the longest element.
const ELEMENT_BYTES_MAX: u64 = 8;

/// Whether a message has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sent {
    /// Entirely.
    All,
    /// Not, or not all of it: there is no room.
    Waits,
}

impl<T: Transport> Engine<T> {
    /// Starts the send at `action`. True if it has ended: its buffer may be reused.
    #[inline]
    pub(super) fn start_send(
        &mut self,
        key: usize,
        action: u32,
        to: u32,
        tag: u32,
        payload: Buffer<'_>,
    ) -> bool {
        let instance = &mut self.instances[key];
        let size = payload.size();
        let kind = kind(&mut self.transport, &self.options, to, size);
        let mut header = Header::new(kind, self.rank);
        header.communicator = instance.communicator;
        header.instance = instance.number;
        header.tag = tag;
        header.sequence = instance.number_send(action, to);
        header.action = action;
        header.size = size;
        if matches!(payload, Buffer::Pattern { .. }) {
            header.flags |= Header::PATTERN;
        }
        self.stats.messages += 1;
        self.stats.bytes = self.stats.bytes.saturating_add(size);
        let mut outgoing = Outgoing { header, instance: key, left: None };
        if kind == Kind::Rts {
            self.request(to, &mut outgoing);
        }
        if !self.outbox.is_blocked(to) {
            let sent = if kind == Kind::Eager {
                let source = Source { instance: &self.instances[key], payload, header: &header, to };
                try_send_eager(&mut self.transport, &source)
            } else {
                let mut budget = BYTES_PER_POLL;
                self.try_send(to, &mut outgoing, &mut budget)
            };
            if sent == Sent::All {
                return kind != Kind::Rts;
            }
        }
        self.outbox.push(to, outgoing);
        false
    }

    /// Turns a send into a request: its payload waits for the receive.
    fn request(&mut self, to: u32, outgoing: &mut Outgoing) {
        let Outgoing { header, instance, .. } = outgoing;
        header.kind = Kind::Rts as u8;
        let source = Source::new(&self.instances[*instance], header, to);
        let address = source
            .instance
            .memory
            .contiguous(source.payload)
            .and_then(|span| self.transport.export(to, span));
        if let Some(address) = address {
            header.flags |= Header::DIRECT;
            header.offset = address;
        }
        let entry = self.outbox.rendezvous.vacant_entry();
        header.cookie = entry.key() as u32;
        entry.insert(Rendezvous { instance: *instance, to, header: *header });
    }

    /// Sends a header without payload.
    pub(super) fn send_control(&mut self, to: u32, header: Header) {
        let mut outgoing = Outgoing { header, instance: usize::MAX, left: None };
        if self.outbox.is_blocked(to) || self.try_send(to, &mut outgoing, &mut 0) == Sent::Waits {
            self.outbox.push(to, outgoing);
        }
    }

    /// Lets out what waited, as far as there is room. Whether anything left.
    pub(super) fn flush(&mut self) -> bool {
        let mut worked = false;
        let mut budget = BYTES_PER_POLL;
        for _ in 0..self.outbox.destinations() {
            let Some((to, mut queue)) = self.outbox.take_turn() else { break };
            while let Some(outgoing) = queue.front_mut() {
                let before = outgoing.left;
                let sent = self.try_send(to, outgoing, &mut budget);
                worked |= sent == Sent::All || outgoing.left != before;
                if sent == Sent::Waits {
                    break;
                }
                let Outgoing { header, instance, .. } = *outgoing;
                queue.pop_front();
                if matches!(header.kind(), Kind::Eager | Kind::Long) {
                    self.end_action(Receive { instance, action: header.action });
                }
            }
            self.outbox.put_back(to, queue);
        }
        for _ in 0..self.outbox.streams.len() {
            let Some(stream) = self.outbox.streams.pop_front() else { break };
            worked |= self.send_stream(stream, &mut budget);
        }
        worked
    }

    fn try_send(&mut self, to: u32, outgoing: &mut Outgoing, budget: &mut u64) -> Sent {
        let Outgoing { header, left, .. } = outgoing;
        if matches!(header.kind(), Kind::Eager | Kind::Long)
            && left.is_none()
            && kind(&mut self.transport, &self.options, to, header.size) == Kind::Rts
        {
            // The receiver's room was used up while this waited for its turn.
            self.request(to, outgoing);
        }
        let header = &outgoing.header;
        match header.kind() {
            Kind::Eager => {
                let source = Source::new(&self.instances[outgoing.instance], header, to);
                try_send_eager(&mut self.transport, &source)
            }
            Kind::Long => self.try_send_long(to, outgoing, budget),
            Kind::Rts | Kind::Cts | Kind::Fin | Kind::Data | Kind::Part => {
                match self.transport.try_send(to, header, |_| {}) {
                    Ok(()) => Sent::All,
                    Err(Full) => Sent::Waits,
                }
            }
        }
    }

    fn try_send_long(&mut self, to: u32, outgoing: &mut Outgoing, budget: &mut u64) -> Sent {
        let Outgoing { header, instance, left } = outgoing;
        let source = Source::new(&self.instances[*instance], header, to);
        if left.is_none() {
            if self.transport.try_send(to, header, |_| {}) == Err(Full) {
                return Sent::Waits;
            }
            *left = Some(0);
        }
        let left = left.get_or_insert(0);
        let part_max = part_max(&mut self.transport, to);
        while *left < header.size {
            let mut part = Header::new(Kind::Part, header.source);
            part.size = (header.size - *left).min(part_max);
            if *budget < part.size
                || self.transport.try_send(to, &part, |out| source.fill(*left, out)) == Err(Full)
            {
                return Sent::Waits;
            }
            *budget -= part.size;
            *left += part.size;
        }
        Sent::All
    }

    /// Sends parts of a stream and puts it back unless it is done. Whether anything left.
    fn send_stream(&mut self, mut stream: Stream, budget: &mut u64) -> bool {
        let Rendezvous { instance, to, header } = self.outbox.rendezvous[stream.send as usize];
        let source = Source::new(&self.instances[instance], &header, to);
        let before = stream.left;
        let part_max = part_max(&mut self.transport, to);
        while stream.left < header.size {
            let mut part = Header::new(Kind::Data, header.source);
            part.cookie = stream.cookie;
            part.offset = stream.left;
            part.size = (header.size - stream.left).min(part_max);
            if *budget < part.size
                || self.transport.try_send(to, &part, |out| source.fill(stream.left, out)) == Err(Full)
            {
                break;
            }
            *budget -= part.size;
            stream.left += part.size;
        }
        let worked = stream.left > before;
        if stream.left == header.size {
            self.outbox.rendezvous.remove(stream.send as usize);
            self.end_action(Receive { instance, action: header.action });
        } else {
            self.outbox.streams.push_back(stream);
        }
        worked
    }
}

/// How a message of `size` bytes leaves for rank `to` now.
#[inline]
fn kind(transport: &mut impl Transport, options: &Options, to: u32, size: u64) -> Kind {
    if size > options.eager_limit || kept_bytes(size) > transport.room(to) {
        Kind::Rts
    } else if size > transport.short_max() as u64 && size > transport.payload_max(to) as u64 {
        Kind::Long
    } else {
        Kind::Eager
    }
}

/// Most bytes of a part for rank `to`: whole elements of every type, so that a receive can combine each part with its buffer.
fn part_max(transport: &mut impl Transport, to: u32) -> u64 {
    transport.payload_max(to) as u64 & !(ELEMENT_BYTES_MAX - 1)
}

#[inline]
fn try_send_eager(transport: &mut impl Transport, source: &Source<'_>) -> Sent {
    match transport.try_send(source.to, source.header, |out| source.fill(0, out)) {
        Ok(()) => Sent::All,
        Err(Full) => Sent::Waits,
    }
}

/// Where the bytes of a send come from.
struct Source<'a> {
    instance: &'a Instance,
    payload: Buffer<'a>,
    header: &'a Header,
    to: u32,
}

impl<'a> Source<'a> {
    #[inline]
    fn new(instance: &'a Instance, header: &'a Header, to: u32) -> Self {
        let record = instance.record(header.action);
        let Operation::Send { payload, .. } = record.operation() else { unreachable!("only sends send") };
        Self { instance, payload, header, to }
    }

    /// Writes the bytes from `offset` on.
    #[inline]
    fn fill(&self, offset: u64, out: &mut [u8]) {
        match self.payload {
            Buffer::Pattern { .. } => self.header.message(self.to).fill(offset, out),
            payload => self.instance.memory.gather(payload, offset, out),
        }
    }
}
