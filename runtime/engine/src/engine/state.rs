//! The state of an engine: instances and messages. It lies in a heap, so that another process can
//! continue with it.
#![allow(unsafe_code)] // the one reference to the state of an engine

use super::arrivals::Arrivals;
use super::error::Failure;
use super::ids::{ActionRef, InstanceKey, MessageKey};
use super::instance::Instance;
use super::local::Timers;
use super::options::Stats;
use super::outgoing::Outbox;
use crate::heap::{Block, Heap, Line, Pool, Queue, STATE_PER_LIMIT, Table, flat};
use crate::memory::{Region, Zeroed};
use crate::seed::Seed;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// The state of an engine.
#[derive(Debug, Default)]
pub(super) struct EngineState {
    pub(super) instances: Pool<Instance>,
    /// Instances that can make progress at once, each at most once.
    pub(super) runnable: Line<InstanceKey>,
    /// The number of instances with actions that have not ended.
    pub(super) unfinished: u32,
    pub(super) arrivals: Arrivals,
    pub(super) outbox: Outbox,
    pub(super) timers: Timers,
    /// Operations under way whose chunks other ranks may take.
    pub(super) shared: Queue<SharedOperation>,
    /// Local operations that were done together with their receives and have not started.
    pub(super) combined: Table<ActionRef, u8>,
    pub(super) stats: Stats,
    /// The number of polls that made progress. It wraps around.
    pub(super) progress_count: u32,
    /// The first failure of an action, as JSON padded with zeros; empty if there is none. Another
    /// process may find the failure while it acts for the rank. So the failure is part of the state
    /// that both see.
    failure: Block<u8>,
    /// The key of the running instance that other processes may poll, plus 1; 0 if there is none.
    pub(super) common: u32,
    /// The number of unfinished instances that only the rank's own process can execute.
    pub(super) own: u32,
    /// The name of the schedule that other processes may execute, set by the rank's process; 0 if
    /// there is none.
    pub(super) name: u64,
    /// The bytes of kept messages when the room was last announced to senders.
    pub(super) announced: Option<u64>,
}

/// A shared operation under way.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SharedOperation {
    /// The number of the task that the transport's workers gave the operation.
    pub(super) task: u32,
    /// The number of chunks of the operation, and how many of them this engine did itself.
    pub(super) chunks: u32,
    pub(super) own: u32,
    /// The message that is received; `None` for a local operation.
    pub(super) message: Option<MessageKey>,
    pub(super) action: ActionRef,
}

flat!(struct EngineState { instances, runnable, unfinished, arrivals, outbox, timers, shared, combined, stats, progress_count, failure, common, own, name, announced });
flat!(struct SharedOperation { task, chunks, own, message, action });
flat!(struct Stats { messages, bytes, verified_bytes, in_parts, requests, read_in_place, put_in_place, shared_chunks, helped_chunks, polls, ready_max, unreceived, unexpected, unexpected_max });

impl EngineState {
    /// Returns true if an action has failed. The engine then makes no more progress.
    #[inline]
    pub(super) fn has_failed(&self) -> bool {
        self.failure.len() != 0
    }

    /// The first failure of an action.
    #[cold]
    pub(super) fn failure(&self, heap: &Heap) -> Option<Failure> {
        let text = self.failure.values(heap).split(|&byte| byte == 0).next()?;
        self.has_failed().then(|| serde_json::from_slice(text).expect("what `fail` wrote"))
    }

    /// Stores a failure, unless there is one already.
    #[cold]
    pub(super) fn fail(&mut self, heap: &Heap, failure: &Failure) {
        if !self.has_failed() {
            let text = serde_json::to_vec(failure).expect("numbers and texts");
            self.failure = Block::copy_of(heap, &text);
        }
    }
}

/// A handle to the state of an engine.
///
/// Invariant: `state` is the root of `heap`, and no other reference to it is in use.
#[derive(Debug)]
pub(super) struct HeldState {
    pub(super) heap: Heap,
    state: NonNull<EngineState>,
    /// The memory of the heap, if it belongs to this engine alone.
    _memory: Option<Zeroed>,
}

// SAFETY: the pointer is to memory that is bound to no thread; `HeldState::over` states when it may
// be used.
unsafe impl Send for HeldState {}

impl HeldState {
    /// Creates a state in `memory`, which then belongs to it.
    pub(super) fn alone(memory: Zeroed, seed: Seed) -> Self {
        // SAFETY: the memory is this value's alone, moves with it and lives as long as it does.
        let held = unsafe { Self::over(memory.region(), seed) };
        Self { _memory: Some(memory), ..held }
    }

    /// Opens the state in `bytes`. They are all zeros, or another engine left its state there.
    ///
    /// # Safety
    /// The contract of [`Heap::new`] holds: while a method of an engine over these bytes runs, no
    /// method of another engine over them runs, in any process.
    pub(super) unsafe fn over(bytes: Region, seed: Seed) -> Self {
        // SAFETY: as the caller says; the root is always an `EngineState`, reached through this
        // value only.
        unsafe {
            let heap = Heap::new(bytes, seed);
            Self { heap, state: heap.root(), _memory: None }
        }
    }

    /// Returns true if other ranks may access the memory of an instance without this engine. Always
    /// false for a state that engines of other processes may use: the contract of `over` covers
    /// these.
    pub(super) fn is_exposed(&mut self) -> bool {
        self._memory.is_some() && self.exposes(None)
    }

    /// Returns true if other ranks may access the memory of instance `of`, or of any instance if
    /// `of` is `None`. They do so while they work on a shared operation, read a payload in place,
    /// or write one to a receive's buffer.
    #[inline]
    pub(super) fn exposes(&mut self, of: Option<InstanceKey>) -> bool {
        !(self.shared.is_empty()
            && self.outbox.rendezvous.is_empty()
            && self.arrivals.messages.is_empty())
            && self.finds_exposed(of)
    }

    #[cold]
    fn finds_exposed(&mut self, of: Option<InstanceKey>) -> bool {
        let heap = self.heap;
        let is_meant = |key| of.is_none_or(|of| of == key);
        let mut sends = 0..self.outbox.rendezvous.len_max() as u32;
        let mut receives = 0..self.arrivals.messages.len_max() as u32;
        let shared = (0..self.shared.len()).filter_map(|at| self.shared.at(&heap, at));
        shared.into_iter().any(|shared| is_meant(shared.action.instance))
            || receives.any(|key| {
                let message = self.arrivals.messages.find(&heap, key);
                message.and_then(|message| message.put_into()).is_some_and(is_meant)
            })
            || sends.any(|send| self.outbox.exported(&heap, send).is_some_and(is_meant))
    }
}

/// Returns the bytes to reserve for the state of an engine with this limit on unexpected messages.
/// They are address space: only the pages that are used take memory.
pub fn state_bytes(unexpected_limit: u64) -> u64 {
    const LEAST: u64 = 1 << 30;
    const MOST: u64 = 1 << 37;
    unexpected_limit.saturating_mul(STATE_PER_LIMIT).clamp(LEAST, MOST)
}

impl Deref for HeldState {
    type Target = EngineState;

    #[inline]
    fn deref(&self) -> &EngineState {
        // SAFETY: the invariant.
        unsafe { self.state.as_ref() }
    }
}

impl DerefMut for HeldState {
    #[inline]
    fn deref_mut(&mut self) -> &mut EngineState {
        // SAFETY: the invariant.
        unsafe { self.state.as_mut() }
    }
}
