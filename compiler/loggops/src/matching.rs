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
    /// The queues of ranks with wildcards.
    wild: FxHashMap<u32, Wild>,
    /// By action of a rank with wildcards, true if it waits.
    waits: Vec<bool>,
}

/// The queues of a rank with wildcards. The key of a queue is a source and a tag, or
/// [`ANY`] for either.
#[derive(Debug, Default)]
struct Wild {
    /// Receives by what they name, each with its place in the order of posting.
    receives: FxHashMap<(u32, u32), VecDeque<(u64, u32)>>,
    /// Messages by everything that a receive may name. A message is in four queues, and those in
    /// which it does not come first keep it until they reach it.
    messages: FxHashMap<(u32, u32), VecDeque<u32>>,
    posted: u64,
}

impl Matching {
    /// Queues for ranks with wildcards alone.
    pub(crate) fn for_wildcards(workload: &Workload, has_wildcards: &[bool]) -> Self {
        let waits = if has_wildcards.contains(&true) { workload.len() } else { 0 };
        Self { wild: FxHashMap::default(), waits: vec![false; waits] }
    }

    /// Returns the message that a receive of a rank with wildcards takes.
    pub(crate) fn take_message(&mut self, rank: u32, from: u32, tag: u32) -> Option<u32> {
        let queue = self.wild.get_mut(&rank)?.messages.get_mut(&(from, tag))?;
        while let Some(message) = queue.pop_front() {
            if std::mem::take(&mut self.waits[message as usize]) {
                return Some(message);
            }
        }
        None
    }

    /// Returns the receive that a message to a rank with wildcards takes: of those that fit, the
    /// one posted first.
    pub(crate) fn take_receive(&mut self, rank: u32, from: u32, tag: u32) -> Option<u32> {
        let receives = &mut self.wild.get_mut(&rank)?.receives;
        let keys = [(from, tag), (from, ANY), (ANY, tag), (ANY, ANY)];
        let first = |key: &(u32, u32)| receives.get(key).and_then(|queue| queue.front().copied());
        let (_, key) = keys
            .iter()
            .filter_map(|key| Some((first(key)?.0, *key)))
            .min_by_key(|&(posted, _)| posted)?;
        receives.get_mut(&key)?.pop_front().map(|(_, receive)| receive)
    }

    pub(crate) fn keep_message(&mut self, rank: u32, from: u32, tag: u32, message: u32) {
        let messages = &mut self.wild.entry(rank).or_default().messages;
        for key in [(from, tag), (from, ANY), (ANY, tag), (ANY, ANY)] {
            messages.entry(key).or_default().push_back(message);
        }
        self.waits[message as usize] = true;
    }

    pub(crate) fn keep_receive(&mut self, rank: u32, from: u32, tag: u32, receive: u32) {
        let wild = self.wild.entry(rank).or_default();
        wild.receives.entry((from, tag)).or_default().push_back((wild.posted, receive));
        wild.posted += 1;
    }
}
