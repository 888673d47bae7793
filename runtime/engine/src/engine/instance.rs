//! One run of a schedule.

use super::actions::ActionStates;
use super::channel::Channels;
use super::error::{Cause, Failure};
use super::home::Home;
use super::ids::{Action, InstanceKey, Rank};
use super::schedule::Schedule;
use crate::heap::{Block, Heap, Line, Table, flat};
use crate::matching::SpaceId;

/// Names a started instance.
#[derive(Debug, PartialEq, Eq)]
pub struct Handle {
    /// [`Core::id`](super::Core::id) of its engine.
    pub(super) engine: u64,
    pub(super) key: InstanceKey,
    pub(super) communicator: u64,
    pub(super) number: u32,
}

/// A started schedule, or one that has ended and may be started again.
#[derive(Debug, Default)]
pub(super) struct Instance {
    /// The index of its schedule in `Engine::codes`. Each process has its own table.
    pub(super) code: u32,
    pub(super) communicator: u64,
    pub(super) number: u32,
    /// True if the instance is in the engine's queue of runnable instances.
    pub(super) is_queued: bool,
    /// True from the start of the instance until its communicator removes it, after its end.
    pub(super) is_open: bool,
    pub(super) matched: Matched,
    pub(super) actions: ActionStates,
    /// The number of the next message to each destination, by the schedule's number of the
    /// destination.
    pub(super) sequences: Block<u32>,
    /// The number of the next message to each destination, by rank. An instance in a window uses
    /// it, because its destinations are not known in advance.
    pub(super) sequences_by_rank: Table<Rank, u32>,
}

/// The queues in which messages and receives of an instance find each other.
#[derive(Debug)]
pub(super) enum Matched {
    /// One queue per channel: every receive names its source and its tag.
    Channels(Channels),
    /// A matching space, which allows wildcards.
    Space(SpaceId),
}

impl Default for Matched {
    fn default() -> Self {
        Self::Space(SpaceId::default())
    }
}

flat!(struct Instance { code, communicator, number, is_queued, is_open, matched, actions, sequences, sequences_by_rank });
flat!(
    enum Matched {
        Channels(part),
        Space(part),
    }
);

impl Instance {
    /// Queues the instance to run, unless it is already queued.
    #[inline(always)]
    pub(super) fn enqueue(
        &mut self,
        heap: &Heap,
        runnable: &mut Line<InstanceKey>,
        key: InstanceKey,
    ) {
        if !self.is_queued {
            self.is_queued = true;
            runnable.push(heap, key);
        }
    }

    /// Resets the counters for the next run of a schedule. The previous run must have ended.
    #[inline]
    pub(super) fn restart(&mut self, heap: &Heap, schedule: &Schedule, home: &mut Home) {
        self.actions.begin(schedule, home);
        match &mut self.sequences.values_mut(heap)[..schedule.routes().destinations()] {
            [] => {}
            [one] => *one = 0,
            sequences => sequences.fill(0),
        }
    }

    /// Frees the memory of an ended instance.
    pub(super) fn release(&mut self, heap: &Heap) {
        if let Matched::Channels(channels) = &mut self.matched {
            channels.release(heap);
        }
        self.actions.ready.release(heap);
        self.actions.ended.release(heap);
        self.sequences.release(heap);
        self.sequences_by_rank.release(heap);
    }

    #[cold]
    pub(super) fn failure(&self, action: Action, number: Option<u64>, cause: Cause) -> Failure {
        Failure {
            communicator: self.communicator,
            instance: self.number,
            action: action.0,
            number,
            cause,
        }
    }
}
