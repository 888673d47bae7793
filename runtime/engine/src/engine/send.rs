//! Starts outgoing messages: eager, eager in parts, rendezvous, and control messages.

use super::Core;
use super::code::Code;
use super::ids::{ActionRef, InstanceKey, Rank};
use super::outgoing::{Outgoing, Rendezvous};
use super::transmit::{BYTES_PER_POLL, Sent, kind};
use crate::memory::copy_short;
use crate::transport::{Header, Kind, Transport};
use goal_asm::nisa::Buffer;

/// The message of a send action.
#[derive(Clone, Copy)]
pub(super) struct SendMessage<'a> {
    pub(super) to: Rank,
    pub(super) tag: u32,
    pub(super) payload: Buffer<'a>,
}

impl Core {
    // Not inlined, so that the caller needs fewer registers.
    #[inline(never)]
    pub(super) fn start_send<T: Transport>(
        &mut self,
        transport: &mut T,
        codes: &[Code],
        at: ActionRef,
        message: SendMessage<'_>,
    ) -> bool {
        let SendMessage { to, tag, payload } = message;
        let heap = &self.heap();
        let size = payload.size();
        let memory = &self.homes[at.instance.index()].memory;
        let bytes = || memory.contiguous(payload);
        let kind = kind(transport, &self.options, to, size, bytes);
        let instance = self.held.instances.get_mut(heap, at.instance);
        let sequence = match codes[instance.code as usize].whole() {
            Some(schedule) => {
                let destination =
                    schedule.routes().destination(to).expect("a send has its destination");
                &mut instance.sequences.values_mut(heap)[destination.index()]
            }
            None => instance.sequences_by_rank.entry(heap, to),
        };
        let header = Header {
            kind: kind as u8,
            flags: if matches!(payload, Buffer::Pattern { .. }) { Header::PATTERN } else { 0 },
            communicator_upper: (instance.communicator >> 32) as u16,
            source: self.rank.0,
            communicator: instance.communicator as u32,
            instance: instance.number,
            tag,
            sequence: *sequence,
            action: at.action.0,
            cookie: 0,
            size,
            offset: 0,
        };
        *sequence += 1;
        let home = &mut self.homes[at.instance.index()];
        home.note_sent(at.action, header.sequence);
        self.held.stats.messages += 1;
        self.held.stats.bytes = self.held.stats.bytes.saturating_add(size);
        let is_blocked = self.held.outbox.is_blocked(heap, to);
        if kind == Kind::Eager
            && !is_blocked
            && let Buffer::One(piece) = payload
        {
            let bytes = home.memory.span(piece);
            let fill = |out: &mut [u8]| bytes.read(|bytes| copy_short(out, bytes));
            if transport.try_send(to.0, &header, fill).is_ok() {
                return true;
            }
        }
        self.send_otherwise(
            transport,
            codes,
            to,
            Outgoing { header, instance: at.instance, left: None },
            is_blocked,
        )
    }

    /// Sends a message that the fast path could not send. Returns true if the send has ended.
    #[inline(never)]
    fn send_otherwise<T: Transport>(
        &mut self,
        transport: &mut T,
        codes: &[Code],
        to: Rank,
        mut outgoing: Outgoing,
        is_blocked: bool,
    ) -> bool {
        if outgoing.header.kind() == Kind::Rts {
            self.request(transport, codes, to, &mut outgoing);
        }
        if !is_blocked {
            let mut budget = BYTES_PER_POLL;
            if self.try_send(transport, codes, to, &mut outgoing, &mut budget) == Sent::All {
                // `try_send` turns the message into a request if the receiver's room was used up
                // meanwhile.
                return outgoing.header.kind() != Kind::Rts;
            }
        }
        let heap = &self.heap();
        self.held.outbox.push(heap, to, outgoing);
        false
    }

    /// Turns a send into a request to send: its payload waits for the receive.
    pub(super) fn request<T: Transport>(
        &mut self,
        transport: &mut T,
        codes: &[Code],
        to: Rank,
        outgoing: &mut Outgoing,
    ) {
        let source = self.source(codes, outgoing.instance, &outgoing.header, to);
        let address =
            source.memory.contiguous(source.payload).and_then(|span| transport.export(to.0, span));
        self.held.stats.requests += 1;
        let Outgoing { header, instance, .. } = outgoing;
        header.kind = Kind::Rts as u8;
        if let Some(address) = address {
            header.flags |= Header::DIRECT;
            header.offset = address;
        }
        let heap = &self.heap();
        let rendezvous = &mut self.held.outbox.rendezvous;
        header.cookie = rendezvous
            .insert(heap, Rendezvous { instance: *instance, to, ..Rendezvous::default() });
        rendezvous.get_mut(heap, header.cookie).header = *header;
    }

    /// Sends a control message, which has no payload.
    pub(super) fn send_control<T: Transport>(
        &mut self,
        transport: &mut T,
        codes: &[Code],
        to: Rank,
        header: Header,
    ) {
        let heap = &self.heap();
        let mut outgoing = Outgoing { header, instance: InstanceKey::NONE, left: None };
        if self.held.outbox.is_blocked(heap, to)
            || self.try_send(transport, codes, to, &mut outgoing, &mut 0) == Sent::Waits
        {
            self.held.outbox.push(heap, to, outgoing);
        }
    }
}
