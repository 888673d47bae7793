//! Hands messages to the transport: at once, or later when there is room for them.

use super::Core;
use super::arrivals::kept_bytes;
use super::code::Code;
use super::home::Memory;
use super::ids::{Action, ActionRef, InstanceKey, Rank};
use super::options::Options;
use super::outgoing::{Outgoing, Rendezvous, Stream};
use crate::memory::Span;
use crate::transport::{Full, Header, Kind, Transport};
use goal_asm::nisa::{Buffer, Operation};

/// The most bytes of streams and long messages that one poll sends.
pub(super) const BYTES_PER_POLL: u64 = 1 << 20;

/// The bytes that a rank writes at a time to a receiver's buffer. The end of a payload is written
/// first. The operation that made the payload wrote its end last, so the end lies in the cache if
/// the whole payload does not fit. With this order, an exchange of operands of 1 or 2 MiB that were
/// just written takes 0.88 of the time of the other order. Smaller and larger operands take the
/// same time in either order.
const PUT_AT_ONCE: u64 = 64 << 10;

/// The size in bytes of the longest element.
pub const ELEMENT_BYTES_MAX: u64 = 8;

/// The result of an attempt to send a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sent {
    /// The whole message has left.
    All,
    /// A part of the message, or all of it, waits for room.
    Waits,
}

impl Sent {
    #[inline]
    fn from_result(result: Result<(), Full>) -> Self {
        match result {
            Ok(()) => Sent::All,
            Err(Full) => Sent::Waits,
        }
    }
}

impl Core {
    /// Sends waiting messages while there is room. Returns true if any bytes left.
    pub(super) fn flush<T: Transport>(&mut self, transport: &mut T, codes: &[Code]) -> bool {
        let heap = &self.heap();
        let mut worked = false;
        let mut budget = BYTES_PER_POLL;
        for _ in 0..self.held.outbox.destinations() {
            let Some((to, mut queue)) = self.held.outbox.take_turn(heap) else { break };
            while let Some(outgoing) = queue.at_mut(heap, 0) {
                let before = outgoing.left;
                let sent = self.try_send(transport, codes, to, outgoing, &mut budget);
                worked |= sent == Sent::All || outgoing.left != before;
                if sent == Sent::Waits {
                    break;
                }
                let Outgoing { header, instance, .. } = *outgoing;
                queue.pop(heap);
                if matches!(header.kind(), Kind::Eager | Kind::Long) {
                    self.finish_later(ActionRef { instance, action: Action(header.action) });
                }
            }
            self.held.outbox.put_back(heap, to, queue);
        }
        for _ in 0..self.held.outbox.streams.len() {
            let Some(stream) = self.held.outbox.streams.pop(heap) else { break };
            worked |= self.send_stream(transport, codes, stream, &mut budget);
            if budget < BYTES_PER_POLL / 2 {
                // The next poll begins with the next stream.
                break;
            }
        }
        worked
    }

    pub(super) fn try_send<T: Transport>(
        &mut self,
        transport: &mut T,
        codes: &[Code],
        to: Rank,
        outgoing: &mut Outgoing,
        budget: &mut u64,
    ) -> Sent {
        if matches!(outgoing.header.kind(), Kind::Eager | Kind::Long) && outgoing.left.is_none() {
            let source = self.source(codes, outgoing.instance, &outgoing.header, to);
            let bytes = || source.memory.contiguous(source.payload);
            if kind(transport, &self.options, to, outgoing.header.size, bytes) == Kind::Rts {
                // The receiver's room was used up while the message waited for its turn.
                self.request(transport, codes, to, outgoing);
            }
        }
        let header = &outgoing.header;
        match header.kind() {
            Kind::Eager => {
                try_send_eager(transport, &self.source(codes, outgoing.instance, header, to))
            }
            Kind::Long => self.try_send_long(transport, codes, to, outgoing, budget),
            Kind::Rts | Kind::Cts | Kind::Fin | Kind::Data | Kind::Part => {
                Sent::from_result(transport.try_send(to.0, header, |_| {}))
            }
        }
    }

    fn try_send_long<T: Transport>(
        &mut self,
        transport: &mut T,
        codes: &[Code],
        to: Rank,
        outgoing: &mut Outgoing,
        budget: &mut u64,
    ) -> Sent {
        let Outgoing { header, instance, left } = outgoing;
        let source = self.source(codes, *instance, header, to);
        if left.is_none() {
            if transport.try_send(to.0, header, |_| {}) == Err(Full) {
                return Sent::Waits;
            }
            *left = Some(0);
        }
        let left = left.get_or_insert(0);
        while *left < header.size {
            let mut part = Header::new(Kind::Part, header.source);
            part.size = (header.size - *left).min(source.part_max(transport));
            if *budget < part.size || source.send_part(transport, &part, *left) == Err(Full) {
                return Sent::Waits;
            }
            *budget -= part.size;
            *left += part.size;
        }
        self.held.stats.in_parts += 1;
        Sent::All
    }

    /// Sends parts of a stream, and queues it again unless it is complete. Returns true if any
    /// bytes left.
    fn send_stream<T: Transport>(
        &mut self,
        transport: &mut T,
        codes: &[Code],
        mut stream: Stream,
        budget: &mut u64,
    ) -> bool {
        let heap = &self.heap();
        let Rendezvous { instance, to, header, .. } =
            *self.held.outbox.rendezvous.get(heap, stream.send);
        let source = self.source(codes, instance, &header, to);
        let before = stream.left;
        let mut is_done = put(transport, &source, &mut stream, budget);
        while stream.target.is_none() && stream.left < stream.until {
            let mut part = Header::new(Kind::Data, header.source);
            part.cookie = stream.cookie;
            part.offset = stream.left;
            part.size = (stream.until - stream.left).min(source.part_max(transport));
            if *budget < part.size || source.send_part(transport, &part, stream.left) == Err(Full) {
                break;
            }
            *budget -= part.size;
            stream.left += part.size;
        }
        is_done |= stream.target.is_none() && stream.left == header.size;
        let worked = is_done || stream.left > before;
        if is_done {
            self.held.stats.put_in_place += u64::from(stream.target.is_some());
            self.held.outbox.rendezvous.remove(heap, stream.send);
            self.finish_later(ActionRef { instance, action: Action(header.action) });
        } else if stream.target.is_none() && stream.left == stream.until {
            // The receiver asks again, or reads the rest.
            self.held.outbox.rendezvous.get_mut(heap, stream.send).is_cleared = false;
        } else {
            self.held.outbox.streams.push(heap, stream);
        }
        worked
    }

    /// Returns the payload of a send, for the functions that hand it to the transport.
    #[inline]
    pub(super) fn source<'a>(
        &'a self,
        codes: &'a [Code],
        instance: InstanceKey,
        header: &'a Header,
        to: Rank,
    ) -> Source<'a> {
        let record = self.record_of(codes, ActionRef { instance, action: Action(header.action) });
        let Operation::Send { payload, .. } = record.operation() else {
            unreachable!("only sends send")
        };
        Source { memory: &self.homes[instance.index()].memory, payload, header, to }
    }
}

/// Returns the kind with which a message of `size` bytes to rank `to` begins: Eager, Long or Rts.
/// It depends on the room that `to` has announced. `bytes` returns the payload if it lies in one
/// piece.
#[inline]
pub(super) fn kind(
    transport: &mut impl Transport,
    options: &Options,
    to: Rank,
    size: u64,
    bytes: impl FnOnce() -> Option<Span>,
) -> Kind {
    let is_short = size <= options.eager_limit
        || size <= options.pushed_max && size <= transport.pushed_max(to.0, bytes());
    if !is_short || kept_bytes(size) > transport.room(to.0) {
        Kind::Rts
    } else if size > transport.short_max() as u64 && size > transport.payload_max(to.0) as u64 {
        Kind::Long
    } else {
        Kind::Eager
    }
}

/// Writes more bytes of a stream to the buffer that the receiver exported. Returns true once all
/// bytes are written and the receiver is told. If the buffer can't be written, resets the stream,
/// so that all bytes go in parts instead.
fn put<T: Transport>(
    transport: &mut T,
    source: &Source<'_>,
    stream: &mut Stream,
    budget: &mut u64,
) -> bool {
    let (Some(target), Source { header, to, .. }) = (stream.target, source) else { return false };
    let bytes = source.memory.contiguous(source.payload).expect("it was exported");
    while stream.left < header.size && *budget > 0 {
        let end = header.size - stream.left;
        let start = (end - 1) / PUT_AT_ONCE * PUT_AT_ONCE;
        let part = bytes.part(start as usize..end as usize);
        if part.read(|part| transport.put_zcopy(to.0, target, start, part)).is_err() {
            (stream.target, stream.left) = (None, 0);
            return false;
        }
        *budget = budget.saturating_sub(end - start);
        stream.left += end - start;
    }
    let mut complete = Header::new(Kind::Data, header.source);
    complete.flags = Header::DIRECT;
    complete.cookie = stream.cookie;
    complete.size = header.size;
    stream.left == header.size && transport.try_send(to.0, &complete, |_| {}).is_ok()
}

fn try_send_eager(transport: &mut impl Transport, source: &Source<'_>) -> Sent {
    Sent::from_result(transport.try_send(source.to.0, source.header, |out| source.fill(0, out)))
}

/// The payload of a send, with its header and its destination.
pub(super) struct Source<'a> {
    pub(super) memory: &'a Memory,
    pub(super) payload: Buffer<'a>,
    header: &'a Header,
    to: Rank,
}

impl Source<'_> {
    /// Returns the most bytes of a part. They are whole elements of every type, so that a receive
    /// can combine each part with its buffer.
    fn part_max(&self, transport: &mut impl Transport) -> u64 {
        let to = self.to.0;
        let most = match self.memory.contiguous(self.payload) {
            Some(_) => transport.zcopy_max(to),
            None => transport.part_max(to),
        };
        (most as u64).min(BYTES_PER_POLL) & !(ELEMENT_BYTES_MAX - 1)
    }

    /// Sends a part: the bytes of the payload from `offset` on.
    fn send_part(
        &self,
        transport: &mut impl Transport,
        part: &Header,
        offset: u64,
    ) -> Result<(), Full> {
        let to = self.to.0;
        match self.memory.contiguous(self.payload) {
            Some(bytes) => {
                let bytes = bytes.part(offset as usize..(offset + part.size) as usize);
                bytes.read(|bytes| transport.try_send_zcopy(to, part, bytes))
            }
            None => transport.try_send(to, part, |out| self.fill(offset, out)),
        }
    }

    /// Writes the bytes of the payload from `offset` on to `out`.
    #[inline]
    fn fill(&self, offset: u64, out: &mut [u8]) {
        match self.payload {
            Buffer::Pattern { .. } => self.header.message(self.to.0).fill(offset, out),
            payload => self.memory.gather(payload, offset, out),
        }
    }
}
