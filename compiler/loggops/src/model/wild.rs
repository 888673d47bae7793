//! Messages and receives of a rank with wildcards that wait for each other: as in MPI, the first
//! one that fits. Every step takes constant time, however many wait.

use crate::source::Actions;
use crate::workload::Kind;
use goal_lang::ANY;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The queues of a rank. The key of a queue is a source and a tag, or [`ANY`] for either.
#[derive(Debug, Default)]
pub(super) struct Wild {
    /// By source and tag, the first receive in the text that has them.
    first: FxHashMap<(u32, u32), u32>,
    /// Nodes of receives by what they name, each with its place in the order of posting.
    receives: FxHashMap<(u32, u32), VecDeque<(u64, u32)>>,
    /// Sends by everything that a receive may name. A message is in four queues, and those in which
    /// it does not come first keep it until they reach it.
    messages: FxHashMap<(u32, u32), VecDeque<u32>>,
    /// By send, the node of its message, if that waits.
    waiting: FxHashMap<u32, u32>,
    posted: u64,
    num_receives: u64,
}

/// The keys of all receives that take a message.
fn keys(from: u32, tag: u32) -> [(u32, u32); 4] {
    [(from, tag), (from, ANY), (ANY, tag), (ANY, ANY)]
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
        if let Some(queue) = self.messages.get_mut(&(from, tag)) {
            while let Some(send) = queue.pop_front() {
                if let Some(message) = self.waiting.remove(&send) {
                    return Some(message);
                }
            }
        }
        self.receives.entry((from, tag)).or_default().push_back((self.posted, node));
        self.posted += 1;
        self.num_receives += 1;
        None
    }

    /// Takes a message in. Returns the receive for it, of those that fit the one posted first.
    pub(super) fn take(&mut self, from: u32, tag: u32, send: u32, node: u32) -> Option<u32> {
        let receives = &mut self.receives;
        let first = |key: &(u32, u32)| receives.get(key).and_then(|queue| queue.front().copied());
        let found = keys(from, tag)
            .iter()
            .filter_map(|key| Some((first(key)?.0, *key)))
            .min_by_key(|&(posted, _)| posted);
        if let Some((_, key)) = found {
            self.num_receives -= 1;
            return receives.get_mut(&key)?.pop_front().map(|(_, receive)| receive);
        }
        for key in keys(from, tag) {
            self.messages.entry(key).or_default().push_back(send);
        }
        self.waiting.insert(send, node);
        None
    }
}
