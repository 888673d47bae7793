//! Delivers messages to their receives.

use super::Core;
use super::code::Code;
use super::error::{Cause, Fault};
use super::home::Home;
use super::ids::{ActionRef, MessageKey};
use super::incoming::{Incoming, PayloadPlace};
use crate::ops::{self, DivisionByZero};
use crate::transport::{Header, Kind};
use goal_asm::nisa::{Buffer, Operation};
use goal_lang::{Datatype, Op};

impl Core {
    /// Delivers a message to its receive, or notes that its payload is still to come.
    #[inline(never)]
    pub(super) fn deliver(
        &mut self,
        codes: &[Code],
        receive: ActionRef,
        header: &Header,
        payload: Option<&[u8]>,
    ) {
        if !self.check_match(codes, receive, header) {
            return;
        }
        match payload {
            Some(payload) => {
                self.store(codes, receive, header, 0, payload);
                self.finish_later(receive);
            }
            None => self.remember(header, PayloadPlace::Receive(receive)),
        }
    }

    /// Notes a message that is already matched or dropped, and whose payload is still to come.
    #[inline(never)]
    pub(super) fn remember(&mut self, header: &Header, place: PayloadPlace) {
        match (header.kind(), &place) {
            (Kind::Long, _) | (Kind::Rts, PayloadPlace::Receive(_)) => {}
            // The sender of a dropped request waits forever: its program has no matching receive.
            _ => return,
        }
        let heap = &self.heap();
        let arrivals = &mut self.held.arrivals;
        let message = Incoming { header: *header, place, ..Incoming::default() };
        let key = MessageKey(arrivals.messages.insert(heap, message));
        if header.kind() == Kind::Long {
            *arrivals.long.entry(heap, header.sender()) = key;
        } else {
            arrivals.direct.push(heap, key);
        }
    }

    /// Gives a kept message to the receive that takes it. Returns true if the receive has ended.
    #[inline(never)]
    pub(super) fn take_kept(
        &mut self,
        codes: &[Code],
        receive: ActionRef,
        key: MessageKey,
    ) -> bool {
        let heap = &self.heap();
        let arrivals = &mut self.held.arrivals;
        let message = arrivals.messages.get_mut(heap, key);
        let (header, arrived) = (message.header, message.arrived);
        let place = std::mem::replace(&mut message.place, PayloadPlace::Receive(receive));
        arrivals.release(heap, &header);
        if !self.check_match(codes, receive, &header) {
            return false;
        }
        match place {
            PayloadPlace::Kept(mut bytes) => {
                let kept = &bytes.values(heap)[..arrived as usize];
                self.store(codes, receive, &header, 0, kept);
                bytes.release(heap);
                if arrived < header.size {
                    return false;
                }
                self.held.arrivals.messages.remove(heap, key);
                true
            }
            PayloadPlace::Sender => {
                self.held.arrivals.direct.push(heap, key);
                false
            }
            PayloadPlace::Receive(_) | PayloadPlace::Dropped => {
                unreachable!("such messages do not wait")
            }
        }
    }

    /// Records that a message has matched a receive. Returns false if their sizes differ, which
    /// ends the job.
    #[inline]
    fn check_match(&mut self, codes: &[Code], receive: ActionRef, header: &Header) -> bool {
        self.homes[receive.instance.index()].note_received(
            receive.action,
            header.sender(),
            header.sequence,
        );
        self.note_match(receive, header);
        let received = self.target_of(codes, receive).0.size();
        if received != header.size {
            let cause = Cause::SizeMismatch {
                source_rank: header.source,
                source_action: header.action,
                tag: header.tag,
                sent: header.size,
                received,
            };
            self.fail(codes, receive, cause);
        }
        received == header.size
    }

    /// Stores bytes of a message. If the receive has an operation, combines the bytes with the
    /// buffer. If the message is a pattern and the receive has no address, compares the bytes with
    /// the pattern. `offset` is a multiple of every element's width, and so is the number of bytes
    /// except in the last part of a message.
    pub(super) fn store(
        &mut self,
        codes: &[Code],
        receive: ActionRef,
        header: &Header,
        offset: u64,
        bytes: &[u8],
    ) {
        let (payload, reduce) = self.target_of(codes, receive);
        let Home { memory, .. } = &self.homes[receive.instance.index()];
        if let Some((op, datatype)) = reduce {
            let buffer = memory.contiguous(payload).expect("an operation has a contiguous buffer");
            let width = datatype.width();
            if !offset.is_multiple_of(width) || !(bytes.len() as u64).is_multiple_of(width) {
                let fault = Fault::Elements { offset, len: bytes.len(), width };
                return self.refuse(header.source, fault);
            }
            let start = offset as usize;
            let part = buffer.part(start..start + bytes.len());
            if let Err(DivisionByZero { element }) = ops::apply_bytes(op, datatype, bytes, part) {
                let element = offset / datatype.width() + element;
                self.fail(codes, receive, Cause::DivisionByZero { element });
            }
            return;
        }
        match payload {
            Buffer::Pattern { .. } if header.is_pattern() => {
                match header.message(self.rank.0).check(offset, bytes) {
                    Ok(()) => self.held.stats.verified_bytes += bytes.len() as u64,
                    Err(offset) => {
                        let Header { source: source_rank, tag, sequence, .. } = *header;
                        self.fail(
                            codes,
                            receive,
                            Cause::PatternMismatch { source_rank, tag, sequence, offset },
                        );
                    }
                }
            }
            buffer => memory.scatter(buffer, offset, bytes),
        }
    }

    /// Returns the buffer of a receive, and the operation that combines it with the message.
    #[inline]
    pub(super) fn target_of<'a>(
        &self,
        codes: &'a [Code],
        receive: ActionRef,
    ) -> (Buffer<'a>, Option<(Op, Datatype)>) {
        match self.record_of(codes, receive).operation() {
            Operation::Recv { payload, reduce, .. } => (payload, reduce),
            _ => unreachable!("only receives are posted"),
        }
    }
}
