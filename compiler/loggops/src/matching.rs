//! Messages and receives of ranks with wildcards that wait for each other. As in MPI, the first one
//! that fits is taken.
//!
//! Every step takes constant time, however many messages and receives wait.

use crate::workload::Workload;
use goal_lang::ANY;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The queues of all ranks with wildcards. A message has the number of its send.
#[derive(Debug)]
pub(crate) struct Matching {
    /// By rank.
    queues: FxHashMap<u32, Queues>,
    /// By action of a rank with wildcards, true if it is a message that waits.
    waits: Vec<bool>,
}

impl Matching {
    /// Queues for ranks with wildcards alone.
    pub(crate) fn for_wildcards(workload: &Workload, has_wildcards: &[bool]) -> Self {
        let waits = if has_wildcards.contains(&true) { workload.len() } else { 0 };
        Self { queues: FxHashMap::default(), waits: vec![false; waits] }
    }

    /// Returns the message that a receive of a rank with wildcards takes.
    pub(crate) fn take_message(&mut self, rank: u32, from: u32, tag: u32) -> Option<u32> {
        let is_waiting = |&send: &u32| std::mem::take(&mut self.waits[send as usize]);
        self.queues.get_mut(&rank)?.messages(from, tag).find(is_waiting)
    }

    /// Returns the receive that a message to a rank with wildcards takes.
    pub(crate) fn take_receive(&mut self, rank: u32, from: u32, tag: u32) -> Option<u32> {
        self.queues.get_mut(&rank)?.take_receive(from, tag)
    }

    pub(crate) fn keep_message(&mut self, rank: u32, from: u32, tag: u32, send: u32) {
        self.queues.entry(rank).or_default().keep_message(from, tag, send);
        self.waits[send as usize] = true;
    }

    pub(crate) fn keep_receive(&mut self, rank: u32, from: u32, tag: u32, receive: u32) {
        self.queues.entry(rank).or_default().keep_receive(from, tag, receive);
    }
}

/// The queues of a rank with wildcards. The key of a queue is a source and a tag, or [`ANY`] for
/// either.
#[derive(Debug, Default)]
pub(crate) struct Queues {
    /// Receives by what they name, each with its place in the order of posting.
    receives: FxHashMap<(u32, u32), VecDeque<(u64, u32)>>,
    /// Sends by everything that a receive may name. A message is in four queues, and those in which
    /// it does not come first keep it until they reach it.
    messages: FxHashMap<(u32, u32), VecDeque<u32>>,
    posted: u64,
}

/// Returns the keys of all receives that take a message.
pub(crate) fn keys(from: u32, tag: u32) -> [(u32, u32); 4] {
    [(from, tag), (from, ANY), (ANY, tag), (ANY, ANY)]
}

impl Queues {
    /// Removes and returns the sends of messages that a receive may take, the first one first. The
    /// caller skips those that another receive has taken, and stops at one that waits.
    pub(crate) fn messages(&mut self, from: u32, tag: u32) -> impl Iterator<Item = u32> {
        let mut queue = self.messages.get_mut(&(from, tag));
        std::iter::from_fn(move || queue.as_mut()?.pop_front())
    }

    /// Returns the receive that a message takes: of those that fit, the one posted first.
    pub(crate) fn take_receive(&mut self, from: u32, tag: u32) -> Option<u32> {
        let receives = &mut self.receives;
        let first = |key: &(u32, u32)| receives.get(key).and_then(|queue| queue.front().copied());
        let (_, key) = keys(from, tag)
            .iter()
            .filter_map(|key| Some((first(key)?.0, *key)))
            .min_by_key(|&(posted, _)| posted)?;
        receives.get_mut(&key)?.pop_front().map(|(_, receive)| receive)
    }

    pub(crate) fn keep_message(&mut self, from: u32, tag: u32, send: u32) {
        for key in keys(from, tag) {
            self.messages.entry(key).or_default().push_back(send);
        }
    }

    pub(crate) fn keep_receive(&mut self, from: u32, tag: u32, receive: u32) {
        self.receives.entry((from, tag)).or_default().push_back((self.posted, receive));
        self.posted += 1;
    }
}
