//! Messages that arrive, and receives that are posted.

use super::error::{Cause, Failure};
use super::incoming::{Arrivals, Incoming, Place, Receive, kept_bytes};
use super::instance::Code;
use super::options::{Options, Stats};
use super::outgoing::{Outbox, Rendezvous, Stream};
use super::{Engine, Instance};
use crate::ops::{self, DivisionByZero};
use crate::transport::{Header, Kind, Transport};
use goal_asm::nisa::{Buffer, Operation};
use goal_lang::{Datatype, Op};
use slab::Slab;
use std::collections::VecDeque;

/// Messages that one poll takes.
const MESSAGES_PER_POLL: usize = 64;

/// Bytes for which room is made before they come, of a message that comes in parts and has no receive.
const KEPT_AT_ONCE: u64 = 1 << 20;

/// All that a message may change: the engine without its transport.
pub(super) struct Inside<'e> {
    pub(super) rank: u32,
    pub(super) instances: &'e mut Slab<Box<Instance>>,
    pub(super) runnable: &'e mut VecDeque<usize>,
    pub(super) unfinished: &'e mut usize,
    pub(super) arrivals: &'e mut Arrivals,
    pub(super) outbox: &'e mut Outbox,
    pub(super) stats: &'e mut Stats,
    pub(super) failure: &'e mut Option<Failure>,
}

impl<T: Transport> Engine<T> {
    /// Takes messages from the transport. Whether there were some.
    pub(super) fn take_messages(&mut self) -> bool {
        let (transport, mut inside) = self.split();
        transport.poll(MESSAGES_PER_POLL, |header, payload| inside.accept(header, payload)) > 0
    }

    /// Tells senders how much more may be kept, as far as it matters to them: no eager message is larger than the limit on them.
    #[inline]
    pub(super) fn announce_room(&mut self) {
        let Options { eager_limit, unexpected_limit, .. } = self.options;
        let room = unexpected_limit.saturating_sub(self.arrivals.kept()).min(kept_bytes(eager_limit));
        if self.announced != Some(room) {
            self.announced = Some(room);
            self.transport.announce_room(room);
        }
    }

    /// The transport, and all else.
    pub(super) fn split(&mut self) -> (&mut T, Inside<'_>) {
        let inside = Inside {
            rank: self.rank,
            instances: &mut self.instances,
            runnable: &mut self.runnable,
            unfinished: &mut self.unfinished,
            arrivals: &mut self.arrivals,
            outbox: &mut self.outbox,
            stats: &mut self.stats,
            failure: &mut self.failure,
        };
        (&mut self.transport, inside)
    }

    /// An action has ended; its dependents will know when its instance runs next.
    pub(super) fn end_action(&mut self, action: Receive) {
        self.split().1.end(action);
    }
}

impl Inside<'_> {
    /// What a message does.
    fn accept(&mut self, header: &Header, payload: &[u8]) {
        if self.failure.is_some() {
            // What comes now may belong to the message that failed, and the job ends.
            return;
        }
        match header.kind() {
            Kind::Eager => self.arrive(header, Some(payload)),
            Kind::Long | Kind::Rts => self.arrive(header, None),
            Kind::Part => {
                let message =
                    *self.arrivals.long.get(&header.source).expect("an envelope came before its parts");
                if self.arrive_part(message, payload) {
                    self.arrivals.long.remove(&header.source);
                }
            }
            Kind::Data => {
                self.arrive_part(header.cookie, payload);
            }
            Kind::Cts => {
                let stream = Stream { send: header.cookie, cookie: header.offset as u32, left: header.size };
                self.outbox.streams.push_back(stream);
            }
            Kind::Fin => {
                let Rendezvous { instance, header, .. } =
                    self.outbox.rendezvous.remove(header.cookie as usize);
                self.end(Receive { instance, action: header.action });
            }
        }
    }

    /// The envelope of a message, with all of its payload if it is eager.
    #[inline]
    fn arrive(&mut self, header: &Header, payload: Option<&[u8]>) {
        let Some(space) = self.arrivals.space(header) else {
            self.stats.unreceived += 1;
            return self.remember(header, Place::Dropped);
        };
        if let Some(receive) = self.arrivals.matching.take_posted(space, header.source, header.tag) {
            if payload.is_some_and(|payload| self.deliver(receive, header, payload))
                || !self.meet(receive, header)
            {
                return;
            }
            match payload {
                Some(payload) => {
                    self.store(receive, header, 0, payload);
                    self.end(receive);
                }
                None => self.remember(header, Place::Receive(receive)),
            }
            return;
        }
        let (place, arrived) = match (header.kind(), payload) {
            (_, Some(payload)) => (Place::Kept(payload.to_vec()), header.size),
            (Kind::Rts, None) => (Place::Sender, 0),
            (_, None) => (Place::Kept(Vec::with_capacity(header.size.min(KEPT_AT_ONCE) as usize)), 0),
        };
        let key = self.arrivals.keep(space, header, place, arrived);
        if header.kind() == Kind::Long {
            self.arrivals.long.insert(header.source, key);
        }
        self.stats.unexpected_max = self.stats.unexpected_max.max(self.arrivals.kept());
    }

    /// The short way of a whole message into a buffer in one piece: its action is looked at once. False, and nothing was done,
    /// where it takes the long way.
    #[inline]
    fn deliver(&mut self, receive: Receive, header: &Header, bytes: &[u8]) -> bool {
        let instance = &mut *self.instances[receive.instance];
        let Code::Whole(schedule) = &instance.code else { return false };
        let record = schedule.section().record(receive.action);
        let Operation::Recv { payload: Buffer::One(piece), reduce: None, .. } = record.operation() else {
            return false;
        };
        if piece.size != header.size {
            return false;
        }
        instance.memory.span(piece).write(|target| target.copy_from_slice(bytes));
        instance.progress.end_now(receive.action, &record);
        *self.unfinished -= usize::from(instance.progress.is_finished());
        instance.note_received(receive.action, header.source, header.sequence);
        self.queue(receive.instance);
        true
    }

    /// Notes a message whose payload is still to come and that needs no matching any more.
    fn remember(&mut self, header: &Header, place: Place) {
        match (header.kind(), &place) {
            (Kind::Long, _) | (Kind::Rts, Place::Receive(_)) => {}
            // The sender of a request that is dropped waits for ever, which is what its program says.
            _ => return,
        }
        let key = self.arrivals.messages.insert(Incoming { header: *header, arrived: 0, place }) as u32;
        if header.kind() == Kind::Long {
            self.arrivals.long.insert(header.source, key);
        } else {
            self.arrivals.direct.push_back(key);
        }
    }

    /// The next part of a payload. Whether it was the last one.
    fn arrive_part(&mut self, key: u32, payload: &[u8]) -> bool {
        let message = &mut self.arrivals.messages[key as usize];
        let (header, offset) = (message.header, message.arrived);
        message.arrived += payload.len() as u64;
        let is_last = message.arrived == header.size;
        match &mut message.place {
            Place::Kept(bytes) => bytes.extend_from_slice(payload),
            Place::Receive(receive) => {
                let receive = *receive;
                self.store(receive, &header, offset, payload);
                if is_last {
                    self.arrivals.messages.remove(key as usize);
                    self.end(receive);
                }
            }
            Place::Dropped if is_last => drop(self.arrivals.messages.remove(key as usize)),
            Place::Dropped => {}
            Place::Sender => unreachable!("parts come after the receive is there"),
        }
        is_last
    }

    /// A receive is posted. True if it has ended.
    #[inline]
    pub(super) fn post(&mut self, receive: Receive, from: u32, tag: u32) -> bool {
        let space = self.instances[receive.instance].space;
        let Some(key) = self.arrivals.matching.post(space, from, tag, receive) else { return false };
        let message = &mut self.arrivals.messages[key as usize];
        let (header, arrived) = (message.header, message.arrived);
        let place = std::mem::replace(&mut message.place, Place::Receive(receive));
        self.arrivals.release(&header);
        if !self.meet(receive, &header) {
            return false;
        }
        match place {
            Place::Kept(bytes) => {
                self.store(receive, &header, 0, &bytes);
                if arrived < header.size {
                    return false;
                }
                self.arrivals.messages.remove(key as usize);
                true
            }
            Place::Sender => {
                self.arrivals.direct.push_back(key);
                false
            }
            Place::Receive(_) | Place::Dropped => unreachable!("such messages do not wait"),
        }
    }

    /// A message and its receive have met. False if their sizes differ, which ends the job.
    #[inline]
    fn meet(&mut self, receive: Receive, header: &Header) -> bool {
        let instance = &mut self.instances[receive.instance];
        instance.note_received(receive.action, header.source, header.sequence);
        let received = payload_of(instance, receive.action).size();
        if received != header.size {
            let cause = Cause::SizeMismatch {
                source_rank: header.source,
                source_action: header.action,
                tag: header.tag,
                sent: header.size,
                received,
            };
            self.fail(receive, cause);
        }
        received == header.size
    }

    /// Stores bytes of a message, combines them with what is there if the receive has an operation, or compares them if
    /// they are a pattern and the receive has no address. Both `offset` and, but for the last part of a message, the number of
    /// bytes are multiples of every element's width.
    #[inline]
    pub(super) fn store(&mut self, receive: Receive, header: &Header, offset: u64, bytes: &[u8]) {
        let instance = &self.instances[receive.instance];
        let (payload, reduce) = target_of(instance, receive.action);
        if let Some((op, datatype)) = reduce {
            let buffer = instance.memory.contiguous(payload).expect("an operation has a contiguous buffer");
            let start = offset as usize;
            let part = buffer.part(start..start + bytes.len());
            if let Err(DivisionByZero { element }) = ops::apply_bytes(op, datatype, bytes, part) {
                self.fail(receive, Cause::DivisionByZero { element: offset / datatype.width() + element });
            }
            return;
        }
        match payload {
            Buffer::Pattern { .. } if header.is_pattern() => {
                match header.message(self.rank).check(offset, bytes) {
                    Ok(()) => self.stats.verified_bytes += bytes.len() as u64,
                    Err(offset) => {
                        let Header { source: source_rank, tag, sequence, .. } = *header;
                        self.fail(receive, Cause::PatternMismatch { source_rank, tag, sequence, offset });
                    }
                }
            }
            buffer => instance.memory.scatter(buffer, offset, bytes),
        }
    }

    /// An action has ended; its dependents will know when its instance runs next.
    #[inline]
    pub(super) fn end(&mut self, action: Receive) {
        self.instances[action.instance].progress.end(action.action);
        self.queue(action.instance);
    }

    /// An instance has something to do.
    #[inline]
    fn queue(&mut self, key: usize) {
        let instance = &mut self.instances[key];
        if !instance.is_queued {
            instance.is_queued = true;
            self.runnable.push_back(key);
        }
    }

    #[cold]
    fn fail(&mut self, receive: Receive, cause: Cause) {
        let failure = self.instances[receive.instance].failure(receive.action, cause);
        self.failure.get_or_insert(failure);
    }
}

/// The buffer of the receive at `action`.
#[inline]
fn payload_of(instance: &Instance, action: u32) -> Buffer<'_> {
    target_of(instance, action).0
}

/// The buffer of the receive at `action`, and the operation that combines it with the message.
#[inline]
pub(super) fn target_of(instance: &Instance, action: u32) -> (Buffer<'_>, Option<(Op, Datatype)>) {
    match instance.record(action).operation() {
        Operation::Recv { payload, reduce, .. } => (payload, reduce),
        _ => unreachable!("only receives are posted"),
    }
}
