//! What an engine remembers of instances and messages: all of it in a heap, so that another process
//! can go on with it.
#![allow(unsafe_code)] // the one reference to the state of an engine

use super::error::Failure;
use super::ids::{ActionRef, InstanceKey};
use super::incoming::Arrivals;
use super::instance::Instance;
use super::local::Timers;
use super::options::Stats;
use super::outgoing::Outbox;
use super::shared::Shared;
use crate::heap::{Block, Fifo, Heap, Pool, STATE_PER_LIMIT, Table, flat};
use crate::memory::{Region, Zeroed};
use crate::seed::Seed;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// What an engine remembers.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) instances: Pool<Instance>,
    /// Instances with something to do at once, each once.
    pub(super) runnable: Fifo<InstanceKey>,
    /// Instances with actions that have not ended.
    pub(super) unfinished: u32,
    pub(super) arrivals: Arrivals,
    pub(super) outbox: Outbox,
    pub(super) timers: Timers,
    /// Operations under way that others may take a part of.
    pub(super) shared: Fifo<Shared>,
    /// Local operations that were done with their receives and have not started.
    pub(super) combined: Table<ActionRef, u8>,
    pub(super) stats: Stats,
    /// Polls that did something; it wraps around.
    pub(super) fruitful: u32,
    /// The first failure of an action, as JSON and zeros; empty without one. It lies here so that
    /// the rank sees what another process found that acted for it.
    failure: Block<u8>,
    /// The key of the running instance that others may act for, plus 1; 0 without one.
    pub(super) common: u32,
    /// Instances that were started and not finished and that only their own process can execute.
    pub(super) own: u32,
    /// Name of the schedule that others may act for, from the rank's process; 0 where there is
    /// none.
    pub(super) name: u64,
    /// Bytes kept of messages without a receive when senders were told how much room is left.
    pub(super) announced: Option<u64>,
}

flat!(struct State { instances, runnable, unfinished, arrivals, outbox, timers, shared, combined, stats, fruitful, failure, common, own, name, announced });
flat!(struct Stats { messages, bytes, verified_bytes, in_parts, requests, read_in_place, shared_chunks, helped_chunks, polls, ready_max, unreceived, unexpected, unexpected_max });

impl State {
    /// Returns true if an action has failed, so that nothing goes on.
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

    /// Remembers a failure, unless there is one.
    #[cold]
    pub(super) fn fail(&mut self, heap: &Heap, failure: &Failure) {
        if !self.has_failed() {
            let text = serde_json::to_vec(failure).expect("numbers and texts");
            self.failure = Block::copy_of(heap, &text);
        }
    }
}

/// The state of an engine where it lies.
///
/// Invariant: `state` is the root of `heap`, and this is the only way to it that is in use.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) heap: Heap,
    state: NonNull<State>,
    /// Where the heap is nobody else's.
    _memory: Option<Zeroed>,
}

// SAFETY: an address of memory that belongs to no thread; who may use it when is stated at
// `Held::over`.
unsafe impl Send for Held {}

impl Held {
    /// A state in memory of its own.
    pub(super) fn alone(memory: Zeroed, seed: Seed) -> Self {
        // SAFETY: the memory is this value's alone, moves with it and lives as long as it does.
        let held = unsafe { Self::over(memory.region(), seed) };
        Self { _memory: Some(memory), ..held }
    }

    /// The state in these bytes: zeros, or what an engine left there.
    ///
    /// # Safety
    /// The contract of [`Heap::new`]: while a method of an engine over it runs, no other one does
    /// in any process.
    pub(super) unsafe fn over(bytes: Region, seed: Seed) -> Self {
        // SAFETY: as the caller says; the root is always a `State`, reached through this value
        // only.
        unsafe {
            let heap = Heap::new(bytes, seed);
            Self { heap, state: heap.root(), _memory: None }
        }
    }
}

/// Bytes that the state of an engine may need: address space, of which only what is used takes
/// memory.
pub fn state_bytes(unexpected_limit: u64) -> u64 {
    const LEAST: u64 = 1 << 30;
    const MOST: u64 = 1 << 37;
    unexpected_limit.saturating_mul(STATE_PER_LIMIT).clamp(LEAST, MOST)
}

impl Deref for Held {
    type Target = State;

    #[inline]
    fn deref(&self) -> &State {
        // SAFETY: the invariant.
        unsafe { self.state.as_ref() }
    }
}

impl DerefMut for Held {
    #[inline]
    fn deref_mut(&mut self) -> &mut State {
        // SAFETY: the invariant.
        unsafe { self.state.as_mut() }
    }
}
