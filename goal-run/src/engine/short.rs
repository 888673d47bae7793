//! The way of short schedules, whose actions are decoded, and of short messages among them: what most operations of few ranks consist
//! of. Whatever is not usual goes the way of all others.

use super::buffer::copy_short;
use super::code::{Code, Home};
use super::incoming::{Receive, kept_bytes};
use super::instance::Instance;
use super::options::{Options, Stats};
use super::progress::ActionQueue;
use super::schedule::Schedule;
use super::step::ACTIONS_PER_POLL;
use super::steps::{Step, StepKind, Steps};
use super::{Cause, Core};
use crate::heap::Heap;
use crate::ops::{self, DivisionByZero};
use crate::transport::{Header, Kind, Transport};
use goal_asm::nisa::Buffer;

impl Core {
    /// Lets an instance of a short schedule make progress. How many actions did.
    pub(super) fn run_steps<T: Transport>(
        &mut self,
        transport: &mut T,
        codes: &[Code],
        (key, schedule, steps): (u32, &Schedule, &Steps),
        now_ns: u64,
    ) -> usize {
        let heap = &self.heap();
        let independent = steps.independent();
        let mut actions = 0;
        while actions < ACTIONS_PER_POLL && self.failure.is_none() {
            let Self { rank, options, held, homes, .. } = self;
            let state = &mut **held;
            let instance = state.instances.get_mut(heap, key);
            let home = &mut homes[key as usize];
            let mut queue = ActionQueue { progress: &mut instance.progress, home, heap };
            if let Some(offset) = queue.progress.ended.pop(heap) {
                actions += 1;
                queue.end_step(offset, steps.dependents(steps.step(offset)));
                continue;
            }
            let next = |started: usize| independent.get(started).copied();
            let Some(offset) = queue.progress.next_ready(heap, next) else { break };
            actions += 1;
            let step = steps.step(offset);
            queue.release_steps(steps.start_dependents(step));
            let has_ended = match step.kind {
                StepKind::Nop => true,
                StepKind::Send => {
                    let has_left = state.outbox.is_empty()
                        && send_short(transport, (heap, *rank, options), instance, home, (offset, step));
                    if has_left {
                        count_sent(&mut state.stats, step.piece.size);
                    }
                    let rest = (step.peer, step.tag, Buffer::One(step.piece));
                    has_left || self.start_send(transport, codes, (key, offset), rest)
                }
                StepKind::Receive => match state.arrivals.post_step(heap, instance, step.number, offset) {
                    None => false,
                    Some(message) => {
                        self.take_kept(codes, Receive { instance: key, action: offset }, message)
                    }
                },
                StepKind::Other => {
                    let record = schedule.section().record(offset);
                    self.start_action(transport, codes, key, offset, &record, now_ns)
                }
            };
            if has_ended {
                self.queue(heap, key).end_step(offset, steps.dependents(step));
            }
        }
        actions
    }

    /// Gives a whole message to the receive of a short schedule that it has met. False, and nothing is done, if their sizes
    /// differ.
    #[inline(always)]
    pub(super) fn take_short(
        &mut self,
        (key, steps): (u32, &Steps),
        action: u32,
        header: &Header,
        bytes: &[u8],
    ) -> Result<bool, Cause> {
        let heap = &self.heap();
        let step = steps.step(action);
        if step.kind != StepKind::Receive || step.piece.size != header.size {
            return Ok(false);
        }
        let Self { held, homes, .. } = self;
        let state = &mut **held;
        let instance = state.instances.get_mut(heap, key);
        let home = &mut homes[key as usize];
        let target = home.memory.span(step.piece);
        match step.reduce {
            None => target.write(|target| copy_short(target, bytes)),
            Some((op, datatype)) => ops::apply_bytes(op, datatype, bytes, target)
                .map_err(|DivisionByZero { element }| Cause::DivisionByZero { element })?,
        }
        home.note_received(action, header.source, header.sequence);
        let mut queue = ActionQueue { progress: &mut instance.progress, home, heap };
        queue.end_step(action, steps.dependents(step));
        if !instance.is_queued && !instance.progress.ready.is_empty() {
            instance.is_queued = true;
            state.runnable.push(heap, key);
        }
        state.unfinished -= u32::from(instance.progress.is_finished());
        Ok(true)
    }
}

/// Sends a message that needs nothing but room, if there is that. Whether it has left.
#[inline(always)]
fn send_short<T: Transport>(
    transport: &mut T,
    (heap, rank, options): (&Heap, u32, &Options),
    instance: &mut Instance,
    home: &mut Home,
    (offset, step): (u32, &Step),
) -> bool {
    let Step { peer, tag, piece, .. } = *step;
    if piece.size > (transport.short_max() as u64).min(options.eager_limit)
        || kept_bytes(piece.size) > transport.room(peer)
    {
        return false;
    }
    let sequence = &mut instance.sequences.values_mut(heap)[step.number as usize];
    let header = Header {
        kind: Kind::Eager as u8,
        flags: 0,
        reserved: 0,
        source: rank,
        communicator: instance.communicator,
        instance: instance.number,
        tag,
        sequence: *sequence,
        action: offset,
        cookie: 0,
        size: piece.size,
        offset: 0,
    };
    let bytes = home.memory.span(piece);
    let has_left =
        transport.try_send(peer, &header, |out| bytes.read(|bytes| copy_short(out, bytes))).is_ok();
    if has_left {
        home.note_sent(offset, *sequence);
        *sequence += 1;
    }
    has_left
}

/// A message has left.
#[inline]
fn count_sent(stats: &mut Stats, size: u64) {
    stats.messages += 1;
    stats.bytes = stats.bytes.saturating_add(size);
}
