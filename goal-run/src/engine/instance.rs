//! One run of a schedule.

use super::buffer::Memory;
use super::error::{Cause, Failure};
use super::progress::ActionQueue;
use super::schedule::{Schedule, slot};
use super::window::{Window, Windowed};
use crate::matching::SpaceId;
use crate::memory::{Cells, Region};
use goal_asm::nisa::Record;
use rustc_hash::FxHashMap;
use std::mem::take;
use std::rc::Rc;
use std::sync::Arc;

/// Names a started instance.
#[derive(Debug, PartialEq, Eq)]
pub struct Handle {
    pub(super) key: usize,
    pub(super) communicator: u32,
    pub(super) number: u32,
}

/// What an instance works on, lent by the caller until [`finish`](super::Engine::finish). It may lie in a shared segment,
/// so that somebody else sees what became of the instance.
#[derive(Debug)]
pub struct Storage {
    /// The rank's memory: at least [`Nisa::memory_size`](goal_asm::Nisa::memory_size) bytes. Messages may be read directly
    /// by peers where the transport can export it.
    pub memory: Region,
    /// Scratch memory: at least [`Nisa::scratch_size`](goal_asm::Nisa::scratch_size) bytes.
    pub scratch: Region,
    /// For each action, at its [`slot`], the number of dependencies that it waits for.
    pub counters: Cells<u16>,
    /// The bit of an action's [`slot`] is set when the action has ended.
    pub finished: Cells<u64>,
    /// Where a record of what matched what is wanted. At the [`slot`] of a send: its number among the messages to that
    /// rank, plus 1; of a receive: source rank `<< 32` | number of the message among those from there, plus 1. 0 otherwise.
    pub matches: Option<Cells<u64>>,
}

/// Where the actions of an instance are read.
#[derive(Debug)]
pub(super) enum Code {
    /// In the section. Cloned whenever the instance runs, which must not take an atomic operation.
    #[expect(
        clippy::redundant_allocation,
        reason = "the caller's share is counted atomically, this one is not"
    )]
    Whole(Rc<Arc<Schedule>>),
    /// In a part of it.
    Window(Box<Window>),
}

/// A started schedule.
#[derive(Debug)]
pub(super) struct Instance {
    pub(super) code: Code,
    pub(super) communicator: u32,
    pub(super) number: u32,
    pub(super) space: SpaceId,
    pub(super) memory: Memory,
    pub(super) progress: ActionQueue,
    /// Whether it is in the engine's queue of runnable instances.
    pub(super) is_queued: bool,
    /// The number of the next message to each rank.
    sequences: FxHashMap<u32, u32>,
    matches: Option<Cells<u64>>,
}

impl Instance {
    /// One that has not started.
    pub(super) fn new(schedule: Arc<Schedule>) -> Self {
        Self {
            code: Code::Whole(Rc::new(schedule)),
            communicator: 0,
            number: 0,
            space: SpaceId::default(),
            memory: Memory { memory: Region::EMPTY, scratch: Region::EMPTY },
            progress: ActionQueue::default(),
            is_queued: false,
            sequences: FxHashMap::default(),
            matches: None,
        }
    }

    /// Whether it is one of a schedule.
    #[inline]
    pub(super) fn is_of(&self, schedule: &Arc<Schedule>) -> bool {
        matches!(&self.code, Code::Whole(mine) if Arc::ptr_eq(mine, schedule))
    }

    /// Starts it, for the first time or again. It is to be put into the engine's queue of runnable instances.
    #[inline]
    pub(super) fn start(&mut self, communicator: u32, number: u32, space: SpaceId, storage: Storage) {
        let Code::Whole(schedule) = &self.code else { unreachable!("windows start once") };
        let Storage { memory, scratch, counters, finished, matches } = storage;
        self.memory = Memory::new(memory, scratch, schedule.memory_size(), schedule.scratch_size());
        self.progress.begin(schedule, counters, finished);
        self.matches = matches;
        if let Some(matches) = &mut self.matches {
            matches.as_mut_slice()[..schedule.initial_counters().len()].fill(0);
        }
        (self.communicator, self.number, self.space) = (communicator, number, space);
        self.is_queued = true;
        self.sequences.clear();
    }

    /// An instance that is run through a window. Nothing is recorded of what matched what.
    pub(super) fn in_window(
        windowed: &Windowed,
        window: Window,
        communicator: u32,
        number: u32,
        space: SpaceId,
        storage: Storage,
    ) -> Self {
        let Storage { memory, scratch, counters, finished, .. } = storage;
        Self {
            code: Code::Window(Box::new(window)),
            communicator,
            number,
            space,
            memory: Memory::new(memory, scratch, windowed.memory, windowed.place.scratch),
            progress: ActionQueue::in_window(windowed.place.actions, counters, finished),
            is_queued: true,
            sequences: FxHashMap::default(),
            matches: None,
        }
    }

    /// The action at `offset`, which in a window must be one that has not ended.
    #[inline]
    pub(super) fn record(&self, offset: u32) -> Record<'_> {
        match &self.code {
            Code::Whole(schedule) => schedule.section().record(offset),
            Code::Window(window) => window.record(offset),
        }
    }

    /// What the instance worked on, which has ended.
    #[inline]
    pub(super) fn take_storage(&mut self) -> Storage {
        let Memory { memory, scratch } = self.memory;
        let (counters, finished) = (take(&mut self.progress.counters), take(&mut self.progress.finished));
        Storage { memory, scratch, counters, finished, matches: self.matches.take() }
    }

    /// Numbers a message to `to`, which the action at `offset` sends.
    pub(super) fn number_send(&mut self, offset: u32, to: u32) -> u32 {
        let next = self.sequences.entry(to).or_insert(0);
        let sequence = *next;
        *next += 1;
        if let Some(matches) = &mut self.matches {
            matches.as_mut_slice()[slot(offset)] = u64::from(sequence) + 1;
        }
        sequence
    }

    /// Records what the receive at `offset` took.
    pub(super) fn note_received(&mut self, offset: u32, source: u32, sequence: u32) {
        if let Some(matches) = &mut self.matches {
            matches.as_mut_slice()[slot(offset)] = u64::from(source) << 32 | (u64::from(sequence) + 1);
        }
    }

    pub(super) fn failure(&self, action: u32, cause: Cause) -> Failure {
        let number = match &self.code {
            Code::Whole(_) => None,
            Code::Window(window) => window.number(&self.progress, action),
        };
        Failure { communicator: self.communicator, instance: self.number, action, number, cause }
    }
}
