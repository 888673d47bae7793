//! Messages and receives that wait for each other, as MPI matches them: in order for each pair of
//! ranks and tag, and the first one that fits where there are wildcards.
//!
//! Every step takes constant time, however many messages and receives wait.

use crate::channels::{Channels, NONE};
use crate::workload::{Kind, Workload};
use goal_lang::ANY;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The queues of all ranks. A message has the number of its send.
#[derive(Debug)]
pub(crate) struct Matching {
    /// By channel, the first and the last of what waits: messages or receives, never both.
    ends: Vec<[u32; 2]>,
    /// By action, the one behind it in its channel.
    next: Vec<u32>,
    /// The queues of ranks with wildcards.
    wild: FxHashMap<u32, Wild>,
    /// By action of a rank with wildcards, true if it waits.
    waits: Vec<bool>,
    waiting: u64,
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
    pub(crate) fn new(workload: &Workload, channels: &Channels) -> Self {
        let has_wild = channels.has_wildcards.contains(&true);
        Self {
            ends: vec![[NONE; 2]; channels.len],
            next: vec![NONE; workload.len()],
            wild: FxHashMap::default(),
            waits: if has_wild { vec![false; workload.len()] } else { Vec::new() },
            waiting: 0,
        }
    }

    /// Removes and returns the first action of a kind that waits in a channel.
    #[inline]
    pub(crate) fn pop(&mut self, workload: &Workload, channel: u32, kind: Kind) -> Option<u32> {
        let ends = &mut self.ends[channel as usize];
        let first = ends[0];
        if first == NONE || workload.record(first).kind != kind {
            return None;
        }
        ends[0] = std::mem::replace(&mut self.next[first as usize], NONE);
        if ends[0] == NONE {
            ends[1] = NONE;
        }
        self.waiting -= 1;
        Some(first)
    }

    /// Returns the number of messages and receives that wait.
    pub(crate) fn num_waiting(&self) -> u64 {
        self.waiting
    }

    #[inline]
    pub(crate) fn push(&mut self, channel: u32, action: u32) {
        let ends = &mut self.ends[channel as usize];
        match ends[1] {
            NONE => ends[0] = action,
            last => self.next[last as usize] = action,
        }
        ends[1] = action;
        self.waiting += 1;
    }

    /// Returns the message that a receive of a rank with wildcards takes.
    pub(crate) fn take_message(&mut self, rank: u32, from: u32, tag: u32) -> Option<u32> {
        let queue = self.wild.get_mut(&rank)?.messages.get_mut(&(from, tag))?;
        while let Some(message) = queue.pop_front() {
            if std::mem::take(&mut self.waits[message as usize]) {
                self.waiting -= 1;
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
        self.waiting -= 1;
        receives.get_mut(&key)?.pop_front().map(|(_, receive)| receive)
    }

    pub(crate) fn keep_message(&mut self, rank: u32, from: u32, tag: u32, message: u32) {
        let messages = &mut self.wild.entry(rank).or_default().messages;
        for key in [(from, tag), (from, ANY), (ANY, tag), (ANY, ANY)] {
            messages.entry(key).or_default().push_back(message);
        }
        self.waits[message as usize] = true;
        self.waiting += 1;
    }

    pub(crate) fn keep_receive(&mut self, rank: u32, from: u32, tag: u32, receive: u32) {
        let wild = self.wild.entry(rank).or_default();
        wild.receives.entry((from, tag)).or_default().push_back((wild.posted, receive));
        wild.posted += 1;
        self.waiting += 1;
    }
}
