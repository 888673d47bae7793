//! The fast path for decoded schedules and short messages, which make up most operations. All other
//! cases use the general path.

use super::actions::ActionQueue;
use super::arrivals::kept_bytes;
use super::channel::Queue;
use super::code::Code;
use super::home::Home;
use super::ids::{Action, ActionRef, ChannelId, DestinationId, InstanceKey, MessageKey, Rank};
use super::instance::Matched;
use super::options::{Options, Stats};
use super::run::ACTIONS_PER_POLL;
use super::steps::{Step, StepKind, Steps};
use super::{Cause, Core};
use crate::memory::copy_short;
use crate::ops::{self, DivisionByZero};
use crate::transport::{Header, Kind, Transport};

/// The reason why an action of a decoded schedule takes the general path.
enum Unusual {
    /// The general start function handles the action.
    Start,
    /// A receive takes this message, which was kept.
    Kept(MessageKey),
}

/// The instance that a message is from.
#[derive(Clone, Copy)]
struct Origin {
    /// The rank that sends the message.
    source: Rank,
    communicator: u64,
    /// The number of the instance in the communicator.
    instance: u32,
}

impl Core {
    /// Runs an instance of a decoded schedule for a bounded number of actions. Returns true if it
    /// made progress.
    #[inline(never)]
    pub(super) fn run_steps<T: Transport>(
        &mut self,
        transport: &mut T,
        codes: &[Code],
        key: InstanceKey,
        steps: &Steps,
        now_ns: u64,
    ) -> bool {
        let heap = &self.heap();
        let independent = steps.independent();
        let next = |started: usize| independent.get(started).copied();
        let was_finished = self.begin_run(key, independent.len());
        let mut actions = 0;
        loop {
            let Self { rank, options, held, homes, .. } = self;
            let state = &mut **held;
            let instance = state.instances.get_mut(heap, key);
            let origin = Origin {
                source: *rank,
                communicator: instance.communicator,
                instance: instance.number,
            };
            let mut queue =
                ActionQueue { actions: &mut instance.actions, home: &mut homes[key.index()], heap };
            let unusual = loop {
                if actions == ACTIONS_PER_POLL {
                    break None;
                }
                if let Some(action) = queue.actions.ended.pop(heap) {
                    actions += 1;
                    queue.finish(action, steps.dependents(steps.step(action)));
                    continue;
                }
                let Some(action) = queue.actions.next_ready(heap, next) else { break None };
                actions += 1;
                let step = steps.step(action);
                match step.kind {
                    StepKind::Send if state.outbox.is_empty() => {
                        let sequence = &mut instance.sequences.values_mut(heap)
                            [DestinationId(step.number).index()];
                        if !send_short(
                            transport, options, origin, queue.home, action, step, sequence,
                        ) {
                            break Some((action, Unusual::Start));
                        }
                        queue.release(steps.start_dependents(step));
                        queue.finish(action, steps.dependents(step));
                        count_sent(&mut state.stats, step.piece.size);
                    }
                    StepKind::Receive => {
                        queue.release(steps.start_dependents(step));
                        let Matched::Channels(channels) = &mut instance.matched else {
                            unreachable!("no receive has wildcards")
                        };
                        let channel = ChannelId(step.number);
                        let posted = channels.queue(heap, channel);
                        if let Queue::Empty = *posted {
                            *posted = Queue::One(action);
                            state.arrivals.count_posted();
                        } else if let Some(message) =
                            state.arrivals.post_step(heap, channels, channel, action)
                        {
                            break Some((action, Unusual::Kept(message)));
                        }
                    }
                    StepKind::Exec if state.combined.is_empty() => {
                        queue.release(steps.start_dependents(step));
                        exec_short(queue.home, step);
                        queue.finish(action, steps.dependents(step));
                    }
                    StepKind::Nop => {
                        queue.release(steps.start_dependents(step));
                        queue.finish(action, steps.dependents(step));
                    }
                    StepKind::Send | StepKind::Exec | StepKind::Other => {
                        break Some((action, Unusual::Start));
                    }
                }
            };
            let Some((action, unusual)) = unusual else { break };
            let step = steps.step(action);
            let has_ended = match unusual {
                Unusual::Start => {
                    queue.release(steps.start_dependents(step));
                    self.start_in_section(
                        transport,
                        codes,
                        ActionRef { instance: key, action },
                        now_ns,
                    )
                }
                Unusual::Kept(message) => {
                    self.take_kept(codes, ActionRef { instance: key, action }, message)
                }
            };
            if has_ended {
                self.queue(heap, key).finish(action, steps.dependents(step));
            }
            if self.held.has_failed() {
                break;
            }
        }
        self.end_run(key, independent.len(), was_finished);
        actions > 0
    }

    /// Starts an action from its record in the section. Returns true if it has ended.
    // Not inlined, so that the caller needs fewer registers.
    #[inline(never)]
    fn start_in_section<T: Transport>(
        &mut self,
        transport: &mut T,
        codes: &[Code],
        at: ActionRef,
        now_ns: u64,
    ) -> bool {
        let record = self.record_of(codes, at);
        self.start_action(transport, codes, at.instance, at.action, &record, now_ns)
    }

    /// Delivers a whole message to its receive in the usual case. The message is for the instance
    /// that was started last, and no recorder is set. The receive is decoded, has the size of the
    /// message, and is the only one posted on its channel. In all other cases returns false, with
    /// no effect.
    #[inline(always)]
    pub(super) fn arrive_short(&mut self, codes: &[Code], header: &Header, bytes: &[u8]) -> bool {
        if header.kind != Kind::Eager as u8 || self.recorder.is_some() {
            return false;
        }
        let Self { held, homes, .. } = self;
        let heap = &{ held.heap };
        let state = &mut **held;
        let Some(key) = state.arrivals.recent(header) else { return false };
        let instance = state.instances.get_mut(heap, key);
        let Some(schedule) = codes[instance.code as usize].whole() else { return false };
        let (Some(steps), Matched::Channels(channels)) = (schedule.steps(), &mut instance.matched)
        else {
            return false;
        };
        let channel = channels.number(schedule.routes(), header.source, header.tag);
        let Some(channel) = channel else { return false };
        let queue = channels.queue(heap, channel);
        let Queue::One(action) = *queue else { return false };
        let step = steps.step(action);
        if step.kind != StepKind::Receive || step.piece.size != header.size {
            return false;
        }
        *queue = Queue::Empty;
        state.arrivals.receives -= 1;
        let home = &mut homes[key.index()];
        let target = home.memory.span(step.piece);
        match step.function {
            None => target.write(|target| copy_short(target, bytes)),
            Some((op, datatype)) => {
                if let Err(DivisionByZero { element }) =
                    ops::apply_bytes(op, datatype, bytes, target)
                {
                    let receive = ActionRef { instance: key, action };
                    self.fail(codes, receive, Cause::DivisionByZero { element });
                    return true;
                }
            }
        }
        home.note_received(action, header.sender(), header.sequence);
        let mut queue = ActionQueue { actions: &mut instance.actions, home, heap };
        queue.finish(action, steps.dependents(step));
        if instance.actions.is_finished() {
            state.unfinished -= 1;
        } else if !instance.actions.ready.is_empty() {
            instance.enqueue(heap, &mut state.runnable, key);
        }
        true
    }
}

/// Tries to send a short eager message. Returns false, with no effect, if the message is too long
/// or there is no room for it.
#[inline(always)]
fn send_short<T: Transport>(
    transport: &mut T,
    options: &Options,
    origin: Origin,
    home: &mut Home,
    action: Action,
    step: &Step,
    sequence: &mut u32,
) -> bool {
    let Origin { source, communicator, instance } = origin;
    let Step { peer, tag, piece, .. } = *step;
    if piece.size > (transport.short_max() as u64).min(options.eager_limit)
        || kept_bytes(piece.size) > transport.room(peer.0)
    {
        return false;
    }
    let header = Header {
        kind: Kind::Eager as u8,
        flags: 0,
        communicator_upper: (communicator >> 32) as u16,
        source: source.0,
        communicator: communicator as u32,
        instance,
        tag,
        sequence: *sequence,
        action: action.0,
        cookie: 0,
        size: piece.size,
        offset: 0,
    };
    let bytes = home.memory.span(piece);
    let fill = |out: &mut [u8]| bytes.read(|bytes| copy_short(out, bytes));
    let has_left = transport.try_send(peer.0, &header, fill).is_ok();
    if has_left {
        home.note_sent(action, *sequence);
        *sequence += 1;
    }
    has_left
}

/// Executes a local operation.
#[inline(never)]
fn exec_short(home: &Home, step: &Step) {
    let (op, datatype) = step.function.expect("a local operation has a function");
    let [first, second, result] =
        [step.piece, step.second(), step.result()].map(|piece| home.memory.span(piece));
    let done = ops::apply(op, datatype, first, second, result);
    done.expect("only a division by zero fails");
}

/// Counts a message that has left.
#[inline]
fn count_sent(stats: &mut Stats, size: u64) {
    stats.messages += 1;
    stats.bytes = stats.bytes.saturating_add(size);
}
