//! One run of a schedule.

use super::channel::Channels;
use super::error::{Cause, Failure};
use super::progress::Progress;
use crate::heap::{Block, Heap, Table, flat};
use crate::matching::SpaceId;
use crate::memory::{Cells, Region};

/// Names a started instance.
#[derive(Debug, PartialEq, Eq)]
pub struct Handle {
    pub(super) key: u32,
    pub(super) communicator: u32,
    pub(super) number: u32,
}

/// What an instance works on, lent by the caller until [`finish`](super::Engine::finish). It may
/// lie in a shared segment, so that somebody else sees what became of the instance.
#[derive(Debug)]
pub struct Storage {
    /// The rank's memory: at least [`Nisa::memory_size`](goal_asm::Nisa::memory_size) bytes.
    /// Messages may be read directly by peers where the transport can export it.
    pub memory: Region,
    /// Scratch memory: at least [`Nisa::scratch_size`](goal_asm::Nisa::scratch_size) bytes.
    pub scratch: Region,
    /// For each action, at its [`slot`](super::slot), the number of dependencies that it waits for.
    pub counters: Cells<u16>,
    /// The bit of an action's [`slot`](super::slot) is set when the action has ended.
    pub finished: Cells<u64>,
    /// Where a record of what matched what is wanted. At the [`slot`](super::slot) of a send: its
    /// number among the messages to that rank, plus 1; of a receive: source rank `<< 32` + number
    /// of the message among those from there + 1. 0 otherwise.
    pub matches: Option<Cells<u64>>,
}

impl Storage {
    /// Where it lies: equal for two values over the same bytes.
    pub(super) fn place(&self) -> [usize; 7] {
        let matches = self.matches.as_ref().map_or(0, Cells::address);
        [
            self.memory.whole().address(),
            self.memory.len(),
            self.scratch.whole().address(),
            self.scratch.len(),
            self.counters.address(),
            self.finished.address(),
            matches,
        ]
    }
}

/// A started schedule, or one that has ended and may be started again.
#[derive(Debug, Default)]
pub(super) struct Instance {
    /// What it executes and works on: numbers that each process knows for itself.
    pub(super) code: u32,
    pub(super) communicator: u32,
    pub(super) number: u32,
    /// Whether it is in the engine's queue of runnable instances.
    pub(super) is_queued: bool,
    pub(super) matched: Matched,
    pub(super) progress: Progress,
    /// The number of the next message to each destination, as the schedule numbers these.
    pub(super) sequences: Block<u32>,
    /// The same by rank, where the destinations are not known beforehand.
    pub(super) sequences_by_rank: Table<u32, u32>,
}

/// How messages and receives of an instance find each other.
#[derive(Debug)]
pub(super) enum Matched {
    /// By channel: every receive names its source and its tag.
    Channels(Channels),
    /// By what receives name, wildcards too.
    Space(SpaceId),
}

impl Default for Matched {
    fn default() -> Self {
        Self::Space(SpaceId::default())
    }
}

flat!(Instance, Matched);

impl Instance {
    /// Gives the memory of one that has ended back.
    pub(super) fn release(&mut self, heap: &Heap) {
        if let Matched::Channels(channels) = &mut self.matched {
            channels.release(heap);
        }
        self.progress.ready.release(heap);
        self.progress.ended.release(heap);
        self.sequences.release(heap);
        self.sequences_by_rank.release(heap);
    }

    #[cold]
    pub(super) fn failure(&self, action: u32, number: Option<u64>, cause: Cause) -> Failure {
        Failure { communicator: self.communicator, instance: self.number, action, number, cause }
    }
}
