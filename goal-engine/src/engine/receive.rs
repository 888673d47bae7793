//! Messages that arrive, and receives that are posted.
//!
//! Threat: a rank on another host that has the key may send any header at any time. Every name in
//! it (of a message, of a send) and every length is looked up or compared here before it is used,
//! and what does not go together ends the job with an error that names the rank. How much it may
//! send without a receive, the transport sees to, and of requests, [`super::requests`]. Ranks of
//! one host trust each other, as they share memory.

use super::buffer::copy_short;
use super::code::{Code, Home};
use super::communicator::Target;
use super::error::{Cause, Failure, Fault};
use super::ids::{ActionRef, Cookie, InstanceKey, MessageKey};
use super::incoming::{Incoming, Place, kept_bytes};
use super::options::Options;
use super::outgoing::{Rendezvous, Stream};
use super::progress::ActionQueue;
use super::state::State;
use super::{Core, Engine};
use crate::heap::Block;
use crate::ops::{self, DivisionByZero};
use crate::transport::{Header, Kind, Transport};
use goal_asm::nisa::{Buffer, Operation};
use goal_lang::{Datatype, Op};

/// Messages that one poll takes.
const MESSAGES_PER_POLL: usize = 64;

/// Bytes for which room is made before they come, of a message that comes in parts and has no
/// receive.
const KEPT_AT_ONCE: u64 = 1 << 20;

impl<T: Transport> Engine<'_, T> {
    /// Takes messages from the transport. Whether there were some.
    #[inline]
    pub(super) fn take_messages(&mut self) -> bool {
        let Self { transport, core, codes, .. } = self;
        transport.poll(MESSAGES_PER_POLL, |header, payload| core.accept(codes, header, payload)) > 0
    }

    /// Tells senders how much more may be kept, as far as it matters to them: no eager message is
    /// larger than the limit on them.
    #[inline]
    pub(super) fn announce_room(&mut self) {
        let kept = self.core.held.arrivals.kept();
        if self.core.held.announced != Some(kept) {
            self.core.held.announced = Some(kept);
            let Options { eager_limit, unexpected_limit, .. } = self.core.options;
            self.transport
                .announce_room(unexpected_limit.saturating_sub(kept), kept_bytes(eager_limit));
        }
    }
}

impl Core {
    /// What a message does.
    #[inline(never)]
    fn accept(&mut self, codes: &[Code], header: &Header, payload: &[u8]) {
        if self.held.has_failed() {
            // What comes now may belong to the message that failed, and the job ends.
            return;
        }
        if !self.arrive_short(codes, header, payload) {
            self.accept_other(codes, header, payload);
        }
    }

    /// What a message does that doesn't go the way of short schedules.
    #[inline(never)]
    fn accept_other(&mut self, codes: &[Code], header: &Header, payload: &[u8]) {
        match header.kind() {
            Kind::Eager => self.arrive(codes, header, Some(payload)),
            Kind::Long if self.is_in_parts(header) => self.refuse(header.source, Fault::Envelope),
            Kind::Long | Kind::Rts => self.arrive(codes, header, None),
            Kind::Part => {
                let heap = self.held.heap;
                let Some(message) = self.held.arrivals.next_part(&heap, header.source) else {
                    return self.refuse(header.source, Fault::Part);
                };
                if self.arrive_part(codes, message, payload) {
                    self.held.arrivals.long.remove(&heap, header.source);
                }
            }
            Kind::Data => {
                let heap = self.held.heap;
                let message = self.held.arrivals.messages.find(&heap, header.cookie);
                let cleared =
                    message.filter(|of| of.is_cleared && of.header.source == header.source);
                match cleared.map(|message| message.arrived) {
                    None => self.refuse(header.source, Fault::Data(header.cookie)),
                    Some(arrived) if arrived != header.offset => {
                        self.refuse(header.source, Fault::Place { offset: header.offset, arrived });
                    }
                    Some(_) => {
                        self.arrive_part(codes, MessageKey(header.cookie), payload);
                    }
                }
            }
            Kind::Cts => {
                let heap = self.held.heap;
                let Some(size) = self.waiting_size(header) else {
                    return self.refuse(header.source, Fault::Answer(header.cookie));
                };
                if header.size > size {
                    return self.refuse(header.source, Fault::Has { has: header.size, size });
                }
                self.held.outbox.rendezvous.get_mut(&heap, header.cookie).is_cleared = true;
                let stream = Stream {
                    send: Cookie(header.cookie),
                    cookie: header.offset as u32,
                    left: header.size,
                };
                self.held.outbox.streams.push(&heap, stream);
            }
            Kind::Fin => {
                let heap = self.held.heap;
                if self.waiting_size(header).is_none() {
                    return self.refuse(header.source, Fault::Answer(header.cookie));
                }
                let Rendezvous { instance, header, .. } =
                    self.held.outbox.rendezvous.remove(&heap, header.cookie);
                self.held.stats.read_in_place += 1;
                self.end(ActionRef { instance, action: header.action });
            }
        }
    }

    /// Bytes of the message that an answer names, if it waits for an answer from this rank.
    fn waiting_size(&mut self, answer: &Header) -> Option<u64> {
        let heap = self.held.heap;
        let send = self.held.outbox.rendezvous.find(&heap, answer.cookie)?;
        (send.to == answer.source && !send.is_cleared).then_some(send.header.size)
    }

    /// A rank sent what no engine sends: the job can't go on with it.
    #[cold]
    fn refuse(&mut self, source_rank: u32, fault: Fault) {
        let cause = Cause::Foreign { source_rank, fault };
        let failure = Failure { communicator: 0, instance: 0, action: 0, number: None, cause };
        let heap = &self.heap();
        self.held.fail(heap, &failure);
    }

    /// Returns true if another message of the same rank lacks parts, so that no envelope may come.
    fn is_in_parts(&mut self, header: &Header) -> bool {
        let heap = self.held.heap;
        header.kind == Kind::Long as u8
            && self.held.arrivals.long.get(&heap, header.source).is_some()
    }

    /// The envelope of a message, with all of its payload if it is eager.
    #[inline(always)]
    fn arrive(&mut self, codes: &[Code], header: &Header, payload: Option<&[u8]>) {
        let Self { held, homes, .. } = self;
        let heap = &{ held.heap };
        let state = &mut **held;
        match state.arrivals.target(heap, header) {
            Target::Over => {
                state.stats.unreceived += 1;
                self.remember(header, Place::Dropped);
            }
            Target::Early => self.keep(codes, None, header, payload),
            Target::Running(key) => {
                let instance = state.instances.get_mut(heap, key);
                let code = &codes[instance.code as usize];
                let Some(receive) =
                    state.arrivals.take_posted(heap, (key, &mut *instance, code), header)
                else {
                    return self.keep(codes, Some(key), header, payload);
                };
                state.arrivals.receives -= 1;
                // The short way of a whole message into a buffer in one piece: its action is looked
                // at once.
                if let (Some(bytes), Some(schedule)) = (payload, code.whole()) {
                    let record = schedule.section().record(receive.action);
                    if let Operation::Recv { payload: Buffer::One(piece), reduce: None, .. } =
                        record.operation()
                        && piece.size == header.size
                    {
                        let home = &mut homes[key.index()];
                        home.memory.span(piece).write(|target| copy_short(target, bytes));
                        home.note_received(receive.action, header.source, header.sequence);
                        let mut queue =
                            ActionQueue { progress: &mut instance.progress, home, heap };
                        queue.end_now(receive.action, &record);
                        if !instance.progress.ready.is_empty() {
                            instance.enqueue(heap, &mut state.runnable, key);
                        }
                        state.unfinished -= u32::from(instance.progress.is_finished());
                        self.note_match(receive, header);
                        self.note_end(receive);
                        return;
                    }
                }
                self.deliver(codes, receive, header, payload);
            }
        }
    }

    /// Keeps a message for which there is no receive yet, of an instance that runs or has not
    /// started.
    #[inline(never)]
    fn keep(
        &mut self,
        codes: &[Code],
        running: Option<InstanceKey>,
        header: &Header,
        payload: Option<&[u8]>,
    ) {
        if header.kind() == Kind::Rts
            && let Err(fault) = self.count_request(header.source)
        {
            return self.refuse(header.source, fault);
        }
        let heap = &self.heap();
        let state = &mut *self.held;
        let running = running.map(|key| {
            let instance = state.instances.get_mut(heap, key);
            let code = &codes[instance.code as usize];
            (instance, code)
        });
        let (place, arrived) = match (header.kind(), payload) {
            (_, Some(payload)) => (Place::Kept(Block::copy_of(heap, payload)), header.size),
            (Kind::Rts, None) => (Place::Sender, 0),
            (_, None) => (Place::Kept(Block::new(heap, header.size.min(KEPT_AT_ONCE) as usize)), 0),
        };
        let key = state.arrivals.keep(heap, running, header, (place, arrived));
        if header.kind() == Kind::Long {
            *state.arrivals.long.entry(heap, header.source) = key;
        }
        state.stats.unexpected += 1;
        state.stats.unexpected_max = state.stats.unexpected_max.max(state.arrivals.kept());
    }

    /// A message has found its receive.
    #[inline(never)]
    fn deliver(
        &mut self,
        codes: &[Code],
        receive: ActionRef,
        header: &Header,
        payload: Option<&[u8]>,
    ) {
        if !self.meet(codes, receive, header) {
            return;
        }
        match payload {
            Some(payload) => {
                self.store(codes, receive, header, 0, payload);
                self.end(receive);
            }
            None => self.remember(header, Place::Receive(receive)),
        }
    }

    /// Notes a message whose payload is still to come and that needs no matching any more.
    #[inline(never)]
    fn remember(&mut self, header: &Header, place: Place) {
        match (header.kind(), &place) {
            (Kind::Long, _) | (Kind::Rts, Place::Receive(_)) => {}
            // The sender of a request that is dropped waits for ever, which is what its program
            // says.
            _ => return,
        }
        let heap = &self.heap();
        let arrivals = &mut self.held.arrivals;
        let message = Incoming { header: *header, place, ..Incoming::default() };
        let key = MessageKey(arrivals.messages.insert(heap, message));
        if header.kind() == Kind::Long {
            *arrivals.long.entry(heap, header.source) = key;
        } else {
            arrivals.direct.push(heap, key);
        }
    }

    /// The next part of a payload. Whether it was the last one.
    fn arrive_part(&mut self, codes: &[Code], key: MessageKey, payload: &[u8]) -> bool {
        let heap = &self.heap();
        let message = self.held.arrivals.messages.get_mut(heap, key);
        let (header, offset) = (message.header, message.arrived);
        let left = header.size - offset;
        if payload.len() as u64 > left {
            let end = offset.saturating_add(payload.len() as u64);
            self.refuse(header.source, Fault::TooLong { end, size: header.size });
            return false;
        }
        message.arrived += payload.len() as u64;
        let is_last = message.arrived == header.size;
        match &mut message.place {
            Place::Kept(bytes) => {
                let end = message.arrived as usize;
                if end > bytes.len() {
                    bytes.grow(heap, end.max(2 * bytes.len()));
                }
                bytes.values_mut(heap)[offset as usize..end].copy_from_slice(payload);
            }
            Place::Receive(receive) => {
                let receive = *receive;
                self.store(codes, receive, &header, offset, payload);
                if is_last {
                    self.held.arrivals.messages.remove(heap, key);
                    self.end(receive);
                }
            }
            Place::Dropped if is_last => drop(self.held.arrivals.messages.remove(heap, key)),
            Place::Dropped => {}
            Place::Sender => unreachable!("parts come after the receive is there"),
        }
        is_last
    }

    /// A receive is posted. True if it has ended.
    #[inline]
    pub(super) fn post(&mut self, codes: &[Code], receive: ActionRef, from: u32, tag: u32) -> bool {
        let heap = &self.heap();
        let state = &mut *self.held;
        let instance = state.instances.get_mut(heap, receive.instance);
        let code = &codes[instance.code as usize];
        match state.arrivals.post(heap, (receive, instance, code), from, tag) {
            None => {
                state.arrivals.count_posted();
                false
            }
            Some(key) => self.take_kept(codes, receive, key),
        }
    }

    /// A receive has found a message that was kept. True if it has ended.
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
        let place = std::mem::replace(&mut message.place, Place::Receive(receive));
        arrivals.release(heap, &header);
        if !self.meet(codes, receive, &header) {
            return false;
        }
        match place {
            Place::Kept(mut bytes) => {
                let kept = &bytes.values(heap)[..arrived as usize];
                self.store(codes, receive, &header, 0, kept);
                bytes.release(heap);
                if arrived < header.size {
                    return false;
                }
                self.held.arrivals.messages.remove(heap, key);
                true
            }
            Place::Sender => {
                self.held.arrivals.direct.push(heap, key);
                false
            }
            Place::Receive(_) | Place::Dropped => unreachable!("such messages do not wait"),
        }
    }

    /// A message and its receive have met. False if their sizes differ, which ends the job.
    #[inline]
    fn meet(&mut self, codes: &[Code], receive: ActionRef, header: &Header) -> bool {
        self.homes[receive.instance.index()].note_received(
            receive.action,
            header.source,
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

    /// Stores bytes of a message, combines them with what is there if the receive has an operation,
    /// or compares them if they are a pattern and the receive has no address. Both `offset` and,
    /// but for the last part of a message, the number of bytes are multiples of every element's
    /// width.
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
                match header.message(self.rank).check(offset, bytes) {
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

    /// The buffer of a receive, and the operation that combines it with the message.
    #[inline]
    pub(super) fn target_of<'a>(
        &self,
        codes: &'a [Code],
        receive: ActionRef,
    ) -> (Buffer<'a>, Option<(Op, Datatype)>) {
        let instance = self.held.instances.get(&self.held.heap, receive.instance);
        match codes[instance.code as usize].record(receive.action).operation() {
            Operation::Recv { payload, reduce, .. } => (payload, reduce),
            _ => unreachable!("only receives are posted"),
        }
    }

    /// An action has ended; its dependents will know when its instance runs next.
    #[inline]
    pub(super) fn end(&mut self, action: ActionRef) {
        self.note_end(action);
        let heap = &self.heap();
        let State { instances, runnable, .. } = &mut *self.held;
        let instance = instances.get_mut(heap, action.instance);
        instance.progress.ended.push(heap, action.action);
        instance.enqueue(heap, runnable, action.instance);
    }

    #[cold]
    pub(super) fn fail(&mut self, codes: &[Code], receive: ActionRef, cause: Cause) {
        let instance = self.held.instances.get(&self.held.heap, receive.instance);
        let number = match &codes[instance.code as usize] {
            Code::Window(window) => {
                window.number(&self.homes[receive.instance.index()], receive.action)
            }
            Code::Whole(_) | Code::Ended => None,
        };
        let failure = instance.failure(receive.action, number, cause);
        let heap = &self.heap();
        self.held.fail(heap, &failure);
    }
}
