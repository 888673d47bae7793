//! Takes messages from the transport, and posts receives.
//!
//! Threat: a rank on another host that has the key may send any header at any time. So every name
//! in a header (of a message, of a send) and every length is checked here before it is used. A
//! header that does not fit ends the job with an error that names the rank. The transport limits
//! the bytes that a rank may send without a receive, and [`super::requests`] limits its requests.
//! Ranks of one host trust each other, as they share memory.

use super::actions::ActionQueue;
use super::arrivals::kept_bytes;
use super::code::Code;
use super::communicator::Target;
use super::error::{Cause, Failure, Fault};
use super::ids::{Action, ActionRef, Cookie, InstanceKey};
use super::incoming::PayloadPlace;
use super::options::Options;
use super::outgoing::{Rendezvous, Stream};
use super::{Core, Engine};
use crate::heap::Block;
use crate::memory::copy_short;
use crate::transport::{Header, Kind, Sink, Transport};
use goal_asm::nisa::{Buffer, Operation};
use std::ops::ControlFlow;

/// The most messages that one poll takes.
const MESSAGES_PER_POLL: usize = 64;

/// The most bytes that are allocated in advance for a message that arrives in parts and has no
/// receive.
const KEPT_AT_ONCE: u64 = 1 << 20;

impl<T: Transport> Engine<'_, T> {
    /// Takes messages from the transport. Returns true if there were any. Stops after a message
    /// that ended the last running instance, and after an unexpected message, which had to be
    /// copied. Then the caller may start the receive of the next message before that message is
    /// taken.
    #[inline]
    pub(super) fn take_messages(&mut self) -> bool {
        let Self { transport, core, codes, .. } = self;
        let (has_running, kept) = (core.held.unfinished > 0, core.held.arrivals.kept());
        let mut taker = Taker { core, codes, has_running, kept };
        transport.poll_into(MESSAGES_PER_POLL, &mut taker) > 0
    }

    /// Announces to senders how many more bytes of unexpected messages may be kept, if that has
    /// changed. No single message without a request counts more than
    /// `kept_bytes(eager_limit.max(pushed_max))`.
    #[inline]
    pub(super) fn announce_room(&mut self) {
        let kept = self.core.held.arrivals.kept();
        if self.core.held.announced != Some(kept) {
            self.core.held.announced = Some(kept);
            let Options { eager_limit, pushed_max, unexpected_limit, .. } = self.core.options;
            let most = kept_bytes(eager_limit.max(pushed_max));
            self.transport.announce_room(unexpected_limit.saturating_sub(kept), most);
        }
    }
}

/// An engine as a taker of messages.
struct Taker<'a> {
    core: &'a mut Core,
    codes: &'a [Code],
    /// True if an instance was running when the transport was polled.
    has_running: bool,
    /// The bytes of kept messages when the transport was polled.
    kept: u64,
}

impl Taker<'_> {
    /// Breaks if no further message shall be taken now.
    #[inline]
    fn next(&self) -> ControlFlow<()> {
        let held = &self.core.held;
        let ended_last = self.has_running && held.unfinished == 0;
        if ended_last || held.arrivals.kept() > self.kept {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

impl Sink for Taker<'_> {
    #[inline]
    fn take(&mut self, header: &Header, payload: &[u8]) -> ControlFlow<()> {
        self.core.accept(self.codes, header, payload);
        self.next()
    }

    fn place(
        &mut self,
        header: &Header,
        receive: &mut dyn FnMut(&mut [u8]) -> usize,
    ) -> Option<ControlFlow<()>> {
        self.core.place(self.codes, header, receive).then(|| self.next())
    }
}

impl Core {
    /// Handles a message.
    #[inline(never)]
    fn accept(&mut self, codes: &[Code], header: &Header, payload: &[u8]) {
        if self.held.has_failed() {
            // The message may belong to the instance that failed, and the job ends anyway.
            return;
        }
        if !self.arrive_short(codes, header, payload) {
            self.accept_other(codes, header, payload);
        }
    }

    /// Handles a message that the fast path of decoded schedules does not handle.
    #[inline(never)]
    fn accept_other(&mut self, codes: &[Code], header: &Header, payload: &[u8]) {
        match header.kind() {
            Kind::Eager => self.arrive(codes, header, Some(payload)),
            Kind::Long if self.is_in_parts(header) => self.refuse(header.source, Fault::Envelope),
            Kind::Long | Kind::Rts => self.arrive(codes, header, None),
            Kind::Data if header.flags & Header::DIRECT != 0 => match self.put(header) {
                Ok(message) => self.finish_put(message),
                Err(fault) => self.refuse(header.source, fault),
            },
            Kind::Data | Kind::Part => match self.message_of(header) {
                Ok(message) => self.arrive_part(codes, message, payload),
                Err(fault) => self.refuse(header.source, fault),
            },
            Kind::Cts => {
                let heap = self.held.heap;
                let Some(size) = self.waiting_size(header) else {
                    return self.refuse(header.source, Fault::Answer(header.cookie));
                };
                if header.size > size {
                    return self.refuse(header.source, Fault::Has { has: header.size, size });
                }
                self.held.outbox.rendezvous.get_mut(&heap, header.cookie).is_cleared = true;
                let until = match header.sequence {
                    0 => size,
                    window => size.min(header.size + u64::from(window)),
                };
                let (cookie, target) = if header.flags & Header::DIRECT != 0 {
                    (header.tag, Some(header.offset))
                } else {
                    (header.offset as u32, None)
                };
                let send = Cookie(header.cookie);
                let stream = Stream { send, cookie, left: header.size, until, target };
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
                self.finish_later(ActionRef { instance, action: Action(header.action) });
            }
        }
    }

    /// Returns the size of the sent message that `answer` (a Cts or Fin) names. Returns `None` if
    /// that message does not wait for an answer from the rank that sent this one.
    fn waiting_size(&mut self, answer: &Header) -> Option<u64> {
        let heap = self.held.heap;
        let send = self.held.outbox.rendezvous.find(&heap, answer.cookie)?;
        (send.to == answer.sender() && !send.is_cleared).then_some(send.header.size)
    }

    /// Ends the job because a rank sent a message that no engine sends.
    #[cold]
    pub(super) fn refuse(&mut self, source_rank: u32, fault: Fault) {
        let cause = Cause::Foreign { source_rank, fault };
        let failure = Failure { communicator: 0, instance: 0, action: 0, number: None, cause };
        let heap = &self.heap();
        self.held.fail(heap, &failure);
    }

    /// Returns true if an earlier message of the same rank still lacks parts, so that no other
    /// envelope may arrive.
    fn is_in_parts(&mut self, header: &Header) -> bool {
        let heap = self.held.heap;
        header.kind == Kind::Long as u8
            && self.held.arrivals.long.get(&heap, header.sender()).is_some()
    }

    /// Handles the envelope of a message, with its whole payload if it is eager.
    #[inline(always)]
    fn arrive(&mut self, codes: &[Code], header: &Header, payload: Option<&[u8]>) {
        let Self { held, homes, .. } = self;
        let heap = &{ held.heap };
        let state = &mut **held;
        match state.arrivals.target(heap, header) {
            Target::Over => {
                state.stats.unreceived += 1;
                self.remember(header, PayloadPlace::Dropped);
            }
            Target::Early => self.keep(codes, None, header, payload),
            Target::Running(key) => {
                let instance = state.instances.get_mut(heap, key);
                let code = &codes[instance.code as usize];
                let Some(receive) =
                    state.arrivals.take_posted(heap, key, &mut *instance, code, header)
                else {
                    return self.keep(codes, Some(key), header, payload);
                };
                state.arrivals.receives -= 1;
                // Fast path for a whole message into a contiguous buffer: the action's record is
                // read only once.
                if let (Some(bytes), Some(schedule)) = (payload, code.whole()) {
                    let record = schedule.section().record(receive.action.0);
                    if let Operation::Recv { payload: Buffer::One(piece), reduce: None, .. } =
                        record.operation()
                        && piece.size == header.size
                    {
                        let home = &mut homes[key.index()];
                        home.memory.span(piece).write(|target| copy_short(target, bytes));
                        home.note_received(receive.action, header.sender(), header.sequence);
                        let mut queue = ActionQueue { actions: &mut instance.actions, home, heap };
                        queue.finish(receive.action, record.dependents);
                        if !instance.actions.ready.is_empty() {
                            instance.enqueue(heap, &mut state.runnable, key);
                        }
                        state.unfinished -= u32::from(instance.actions.is_finished());
                        self.note_match(receive, header);
                        self.note_end(receive);
                        return;
                    }
                }
                self.deliver(codes, receive, header, payload);
            }
        }
    }

    /// Keeps a message for which no receive is posted. `running` is the message's instance, or
    /// `None` if the instance has not started.
    #[inline(never)]
    fn keep(
        &mut self,
        codes: &[Code],
        running: Option<InstanceKey>,
        header: &Header,
        payload: Option<&[u8]>,
    ) {
        let heap = &self.heap();
        if header.kind() == Kind::Rts
            && let Some(bound) = &self.bound
        {
            let requests = self.held.arrivals.requests.entry(heap, header.sender());
            if let Err(fault) = requests.count(header.sender(), bound) {
                return self.refuse(header.source, fault);
            }
        }
        let state = &mut *self.held;
        let running = running.map(|key| {
            let instance = state.instances.get_mut(heap, key);
            let code = &codes[instance.code as usize];
            (instance, code)
        });
        let (place, arrived) = match (header.kind(), payload) {
            (_, Some(payload)) => (PayloadPlace::Kept(Block::copy_of(heap, payload)), header.size),
            (Kind::Rts, None) => (PayloadPlace::Sender, 0),
            (_, None) => {
                (PayloadPlace::Kept(Block::new(heap, header.size.min(KEPT_AT_ONCE) as usize)), 0)
            }
        };
        let key = state.arrivals.keep(heap, running, header, place, arrived);
        if header.kind() == Kind::Long {
            *state.arrivals.long.entry(heap, header.sender()) = key;
        }
        state.stats.unexpected += 1;
        state.stats.unexpected_max = state.stats.unexpected_max.max(state.arrivals.kept());
    }

    /// Posts a receive. Returns true if it has ended.
    #[inline]
    pub(super) fn post(&mut self, codes: &[Code], receive: ActionRef, from: u32, tag: u32) -> bool {
        let heap = &self.heap();
        let state = &mut *self.held;
        let instance = state.instances.get_mut(heap, receive.instance);
        let code = &codes[instance.code as usize];
        match state.arrivals.post(heap, receive, instance, code, from, tag) {
            None => {
                state.arrivals.count_posted();
                false
            }
            Some(key) => self.take_kept(codes, receive, key),
        }
    }
}
