//! Messages and receives of a rank with wildcards that wait for each other: as in MPI, the first
//! one that fits. Every step takes constant time, however many wait.

use crate::matching::{Queues, keys};
use crate::source::Actions;
use crate::workload::Kind;
use rustc_hash::FxHashMap;

/// The queues of a rank. The key of a queue is a source and a tag, or a wildcard for either.
#[derive(Debug, Default)]
pub(super) struct Wild {
    /// By source and tag, the first receive in the text that has them.
    first: FxHashMap<(u32, u32), u32>,
    /// The nodes of receives, and the sends of messages.
    queues: Queues,
    /// By send, the node of its message, if that waits.
    waiting: FxHashMap<u32, u32>,
    num_receives: u64,
}

impl Wild {
    /// Returns the queues of a rank, if one of its receives has a wildcard.
    pub(super) fn new(rank: impl Actions) -> Self {
        let mut first = FxHashMap::default();
        for (position, record) in rank.records() {
            if record.kind == Kind::Recv {
                first.entry((record.peer, record.tag)).or_insert(position);
            }
        }
        Self { first, ..Self::default() }
    }

    /// Returns the first receive in the text that takes a message.
    pub(super) fn first_receive(&self, from: u32, tag: u32) -> Option<u32> {
        keys(from, tag).iter().filter_map(|key| self.first.get(key).copied()).min()
    }

    /// Returns the number of messages and receives that wait.
    pub(super) fn num_waiting(&self) -> u64 {
        self.waiting.len() as u64 + self.num_receives
    }

    /// Posts a receive. Returns the message that it takes, if one waits.
    pub(super) fn post(&mut self, from: u32, tag: u32, node: u32) -> Option<u32> {
        let waiting = &mut self.waiting;
        let found = self.queues.messages(from, tag).find_map(|send| waiting.remove(&send));
        if found.is_none() {
            self.queues.keep_receive(from, tag, node);
            self.num_receives += 1;
        }
        found
    }

    /// Takes a message in. Returns the receive for it, of those that fit the one posted first.
    pub(super) fn take(&mut self, from: u32, tag: u32, send: u32, node: u32) -> Option<u32> {
        let found = self.queues.take_receive(from, tag);
        if found.is_some() {
            self.num_receives -= 1;
        } else {
            self.queues.keep_message(from, tag, send);
            self.waiting.insert(send, node);
        }
        found
    }
}
