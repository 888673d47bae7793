//! Receives payloads that arrive in parts: payloads of long messages, and payloads that the
//! receiver has asked for.
//!
//! Threat: a rank on another host may name any message of this rank, and any place and length in
//! it. Each part is checked here, before the transport gets memory for its bytes and before these
//! bytes are stored. The message that it names must come from the sender of the part. The part must
//! be the next one of the message, and must not go beyond the message's end.

use super::Core;
use super::code::Code;
use super::error::Fault;
use super::ids::MessageKey;
use super::incoming::{Asked, PayloadPlace};
use crate::memory::copy;
use crate::transport::{Header, Kind};

impl Core {
    /// Returns the message that a part belongs to.
    ///
    /// # Errors
    /// [`Fault`] if `part` is not the next part of a message from its sender.
    pub(super) fn message_of(&mut self, part: &Header) -> Result<MessageKey, Fault> {
        let heap = &self.heap();
        let arrivals = &mut self.held.arrivals;
        let (key, until) = if part.kind() == Kind::Part {
            let key = arrivals.next_part(heap, part.sender()).ok_or(Fault::Part)?;
            (key, arrivals.messages.get(heap, key).header.size)
        } else {
            let message = arrivals.messages.find(heap, part.cookie);
            // A sender that was asked to write to the buffer and can't sends parts instead.
            let message = message
                .filter(|of| of.header.source == part.source && of.asked != Asked::No)
                .ok_or(Fault::Data(part.cookie))?;
            (MessageKey(part.cookie), message.until)
        };
        let arrived = arrivals.messages.get(heap, key).arrived;
        if part.kind() == Kind::Data && part.offset != arrived {
            return Err(Fault::Place { offset: part.offset, arrived });
        }
        if part.size > until - arrived {
            return Err(Fault::TooLong { end: arrived.saturating_add(part.size), size: until });
        }
        Ok(key)
    }

    /// Returns the message that the notice `written` names. Its sender says that it has written the
    /// payload to the receive's buffer.
    ///
    /// # Errors
    /// [`Fault`] if the sender was not asked to write the payload.
    pub(super) fn put(&mut self, written: &Header) -> Result<MessageKey, Fault> {
        let heap = &self.heap();
        let message = self.held.arrivals.messages.find(heap, written.cookie).filter(|of| {
            of.header.source == written.source
                && of.asked == Asked::Put
                && of.header.size == written.size
        });
        let arrived = message.ok_or(Fault::Data(written.cookie))?.arrived;
        match arrived {
            0 => Ok(MessageKey(written.cookie)),
            _ => Err(Fault::Place { offset: 0, arrived }),
        }
    }

    /// Stores a part of a payload.
    pub(super) fn arrive_part(&mut self, codes: &[Code], key: MessageKey, payload: &[u8]) {
        let heap = &self.heap();
        let message = self.held.arrivals.messages.get_mut(heap, key);
        let (header, offset) = (message.header, message.arrived);
        match &mut message.place {
            PayloadPlace::Kept(bytes) => {
                let (start, end) = (offset as usize, offset as usize + payload.len());
                if end > bytes.len() {
                    bytes.grow(heap, end.max(2 * bytes.len()));
                }
                copy(&mut bytes.values_mut(heap)[start..end], payload);
            }
            &mut PayloadPlace::Receive(receive) => {
                self.store(codes, receive, &header, offset, payload)
            }
            PayloadPlace::Dropped => {}
            PayloadPlace::Sender => unreachable!("parts come after the receive is there"),
        }
        self.count_part(key, payload.len() as u64);
    }

    /// Calls `receive` with the place of a part in the buffer of its receive action. Returns false,
    /// without a call, if the part can't be stored as it is, or must be refused.
    pub(super) fn place(
        &mut self,
        codes: &[Code],
        part: &Header,
        receive: &mut dyn FnMut(&mut [u8]) -> usize,
    ) -> bool {
        // The notice that a payload was written to the buffer brings no bytes.
        let is_notice = part.flags & Header::DIRECT != 0;
        if self.held.has_failed() || is_notice || !matches!(part.kind(), Kind::Part | Kind::Data) {
            return false;
        }
        let Ok(key) = self.message_of(part) else { return false };
        let heap = &self.heap();
        let message = self.held.arrivals.messages.get(heap, key);
        let (&PayloadPlace::Receive(of), start) = (&message.place, message.arrived as usize) else {
            return false;
        };
        let (payload, reduce) = self.target_of(codes, of);
        let buffer = self.homes[of.instance.index()].memory.contiguous(payload);
        let Some(buffer) = buffer.filter(|_| reduce.is_none()) else { return false };
        let place = buffer.part(start..start + part.size as usize);
        let written = place.write(receive);
        assert!(written <= place.len(), "the transport wrote more than there was room for");
        self.count_part(key, written as u64);
        true
    }

    /// Counts bytes of a payload that are in their place. If no bytes are missing any more, ends
    /// the receive.
    fn count_part(&mut self, key: MessageKey, bytes: u64) {
        let heap = &self.heap();
        let arrivals = &mut self.held.arrivals;
        let message = arrivals.messages.get_mut(heap, key);
        message.arrived += bytes;
        let is_last = message.arrived == message.header.size;
        if is_last && message.header.kind() == Kind::Long {
            arrivals.long.remove(heap, message.header.sender());
        }
        match message.place {
            PayloadPlace::Receive(receive) if is_last => {
                arrivals.messages.remove(heap, key);
                self.finish_later(receive);
            }
            PayloadPlace::Receive(_)
                if message.asked == Asked::Parts && message.arrived == message.until =>
            {
                message.asked = Asked::No;
                arrivals.direct.push(heap, key);
            }
            PayloadPlace::Dropped if is_last => drop(arrivals.messages.remove(heap, key)),
            _ => {}
        }
    }
}
