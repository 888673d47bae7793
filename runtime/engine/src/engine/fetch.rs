//! Rendezvous on the receiver's side: reads the payload from the sender's memory if possible,
//! otherwise asks the sender for the bytes.

use super::Core;
use super::code::Code;
use super::combined::Combination;
use super::ids::{ActionRef, MessageKey};
use super::incoming::{Asked, Incoming, PayloadPlace};
use super::transmit::ELEMENT_BYTES_MAX;
use crate::memory::{Imported, Span};
use crate::ops;
use crate::transport::{Header, Kind, Transport};
use std::ops::Range;

/// The most bytes that one poll copies from peers' memory.
const BYTES_PER_POLL: usize = 1 << 20;
/// The bytes that are copied at a time, so that a long message does not delay the others.
const CHUNK: usize = 256 << 10;

impl Core {
    /// Continues to fetch messages whose receive is posted and whose payload is still at the
    /// sender. Returns true if there were any.
    pub(super) fn fetch<T: Transport>(&mut self, transport: &mut T, codes: &[Code]) -> bool {
        let heap = &self.heap();
        let mut left = BYTES_PER_POLL;
        let mut worked = false;
        while left > 0
            && let Some(key) = self.held.arrivals.direct.pop(heap)
        {
            worked = true;
            let message = self.held.arrivals.messages.get(heap, key);
            let PayloadPlace::Receive(receive) = message.place else {
                unreachable!("its receive is there")
            };
            let (header, arrived) = (message.header, message.arrived as usize);
            if header.size == 0 {
                self.finish_fetch(transport, codes, key, receive, &header);
                continue;
            }
            if self.share_fetch(transport, codes, key, receive) {
                continue;
            }
            if arrived == 0 && self.ask_for_put(transport, codes, key, receive) {
                continue;
            }
            if let Some(until) = window(transport, &header, arrived as u64) {
                self.ask_for_parts(transport, codes, key, until);
                continue;
            }
            let end = (header.size as usize).min(arrived + CHUNK);
            if !self.fetch_part(transport, codes, &header, receive, arrived..end) {
                self.ask_for_parts(transport, codes, key, header.size);
                continue;
            }
            left = left.saturating_sub(end - arrived);
            if end < header.size as usize {
                self.held.arrivals.messages.get_mut(heap, key).arrived = end as u64;
                self.held.arrivals.direct.push(heap, key);
                continue;
            }
            self.finish_fetch(transport, codes, key, receive, &header);
        }
        worked
    }

    /// Asks the sender of a payload for the bytes up to `until`, in parts.
    fn ask_for_parts<T: Transport>(
        &mut self,
        transport: &mut T,
        codes: &[Code],
        key: MessageKey,
        until: u64,
    ) {
        let heap = &self.heap();
        let message = self.held.arrivals.messages.get_mut(heap, key);
        (message.asked, message.until) = (Asked::Parts, until);
        let Incoming { header, arrived, .. } = *message;
        let mut answer = Header::new(Kind::Cts, self.rank.0);
        answer.cookie = header.cookie;
        answer.offset = u64::from(key.0);
        answer.size = arrived;
        answer.sequence = if until == header.size { 0 } else { (until - arrived) as u32 };
        self.send_control(transport, codes, header.sender(), answer);
    }

    /// Asks the sender of a payload to write it to the buffer of its receive. Returns false if the
    /// receiver shall read it.
    ///
    /// Bytes that were just written are modified in their writer's cache. If a peer reads them
    /// there, the writer's next write to each line must first invalidate the peer's copy, which
    /// takes longer than the copy itself. If the writer copies them to the peer's buffer instead,
    /// its own lines stay exclusive. So two ranks that send to each other both write. A rank that
    /// sends nothing reads, as its sender may have other receivers to serve. An operation on the
    /// message reads it in place, without any copy.
    fn ask_for_put<T: Transport>(
        &mut self,
        transport: &mut T,
        codes: &[Code],
        key: MessageKey,
        receive: ActionRef,
    ) -> bool {
        let heap = &self.heap();
        let header = self.held.arrivals.messages.get(heap, key).header;
        if self.held.outbox.rendezvous.is_empty() || header.flags & Header::DIRECT == 0 {
            return false;
        }
        let (payload, reduce) = self.target_of(codes, receive);
        if reduce.is_some() || self.combination(codes, receive).is_some() {
            return false;
        }
        let buffer = self.homes[receive.instance.index()].memory.contiguous(payload);
        let address = buffer.and_then(|buffer| transport.export_mut(header.source, buffer));
        let Some(address) = address else { return false };
        let mut answer = Header::new(Kind::Cts, self.rank.0);
        answer.flags = Header::DIRECT;
        answer.cookie = header.cookie;
        answer.tag = key.0;
        answer.offset = address;
        let message = self.held.arrivals.messages.get_mut(heap, key);
        // A sender that can't write there sends all of it in parts.
        (message.asked, message.until) = (Asked::Put, header.size);
        self.send_control(transport, codes, header.sender(), answer);
        true
    }

    /// Finishes a receive whose sender has written the payload to its buffer.
    pub(super) fn finish_put(&mut self, key: MessageKey) {
        let heap = &self.heap();
        let message = self.held.arrivals.messages.remove(heap, key);
        let PayloadPlace::Receive(receive) = message.place else {
            unreachable!("only receives ask for it")
        };
        self.finish_later(receive);
    }

    /// Finishes a receive that has its whole payload, and tells the sender.
    pub(super) fn finish_fetch<T: Transport>(
        &mut self,
        transport: &mut T,
        codes: &[Code],
        key: MessageKey,
        receive: ActionRef,
        header: &Header,
    ) {
        let heap = &self.heap();
        self.held.arrivals.messages.remove(heap, key);
        if in_place(transport, header).is_some()
            && let Some(combination) = self.combination(codes, receive)
        {
            self.note_combined(receive, combination);
        }
        self.finish_later(receive);
        let mut answer = Header::new(Kind::Fin, self.rank.0);
        answer.cookie = header.cookie;
        self.send_control(transport, codes, header.sender(), answer);
    }

    /// Reads a part of a payload from its sender's memory. Returns false if that memory can't be
    /// read from here. Also returns false if the receive would overwrite the payload while it reads
    /// it, which can happen only in a message of a rank to itself.
    fn fetch_part<T: Transport>(
        &mut self,
        transport: &mut T,
        codes: &[Code],
        header: &Header,
        receive: ActionRef,
        part: Range<usize>,
    ) -> bool {
        if header.flags & Header::DIRECT == 0 {
            return false;
        }
        let Some(source) = in_place(transport, header) else {
            return self.copy_part(transport, codes, header, receive, part);
        };
        let (buffer, _) = self.target_of(codes, receive);
        let memory = &self.homes[receive.instance.index()].memory;
        if !memory.is_disjoint(buffer, source) {
            return false;
        }
        let combination = self.combination(codes, receive).zip(memory.contiguous(buffer));
        let source = source.part(part.clone());
        if let Some((Combination { function: (op, datatype), a, .. }, target)) = combination {
            ops::apply(op, datatype, a.part(part.clone()), source, target.part(part))
                .expect("divisions are done by themselves");
        } else {
            let offset = part.start as u64;
            source.read(|bytes| self.store(codes, receive, header, offset, bytes));
        }
        true
    }

    /// Lets the transport copy a part of a payload. Copies directly into a contiguous buffer. If
    /// the buffer is in pieces or the receive has an operation, copies into `staged` first.
    fn copy_part<T: Transport>(
        &mut self,
        transport: &mut T,
        codes: &[Code],
        header: &Header,
        receive: ActionRef,
        part: Range<usize>,
    ) -> bool {
        let Header { source, offset: name, .. } = *header;
        let offset = part.start as u64;
        let (payload, reduce) = self.target_of(codes, receive);
        let memory = &self.homes[receive.instance.index()].memory;
        if let (Some(buffer), None) = (memory.contiguous(payload), reduce) {
            return buffer
                .part(part)
                .write(|out| transport.get_zcopy(source, name, offset, out))
                .is_ok();
        }
        let mut staged = std::mem::take(&mut self.staged);
        staged.resize(part.len(), 0);
        let is_copied = transport.get_zcopy(source, name, offset, &mut staged).is_ok();
        if is_copied {
            self.store(codes, receive, header, offset, &staged);
        }
        self.staged = staged;
        is_copied
    }
}

/// Returns the offset in a message's payload up to which its sender shall send next. Returns `None`
/// if the sender has not exported the payload, or would not be faster than a read of its memory.
/// `arrived` bytes of the payload have arrived.
fn window<T: Transport>(transport: &mut T, header: &Header, arrived: u64) -> Option<u64> {
    if header.flags & Header::DIRECT == 0 || in_place(transport, header).is_some() {
        return None;
    }
    let window = u64::from(transport.window(header.source)) & !(ELEMENT_BYTES_MAX - 1);
    (window > 0).then(|| header.size.min(arrived.saturating_add(window)))
}

/// Returns the payload of a message in its sender's memory; `None` if it can't be read in place.
pub(super) fn in_place<T: Transport>(transport: &T, header: &Header) -> Option<Span> {
    let is_exported = header.flags & Header::DIRECT != 0;
    let import = || transport.import(header.source, header.offset, header.size);
    is_exported.then(import).flatten().map(Imported::span)
}
