//! The messages of a window: those whose both ends are in it.
//!
//! MPI matches the sends of a pair of ranks with one tag to its receives in order: the first to the
//! first, and so on. So a message is known by its number among those of its channel, and no two
//! ranks need to be held in memory at a time.

use goal_lang::{Action, ActionId, Body};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// The source, the destination and the tag of messages.
pub(super) type Channel = (u32, u32, u32);

/// Returns the channel of a message, with true for a receive; `None` for other actions.
pub(super) fn channel(rank: u32, action: &Action) -> Option<(Channel, bool)> {
    match *action {
        Action::Send { to, tag, .. } => Some(((rank, to, tag), false)),
        Action::Recv { from, tag, .. } => Some(((from, rank, tag), true)),
        _ => None,
    }
}

/// Counts the messages of a rank by their channels.
#[derive(Default)]
pub(super) struct Counts(FxHashMap<(Channel, bool), u32>);

impl Counts {
    /// Returns the number of earlier messages of the channel with this end at the rank.
    pub(super) fn next(&mut self, channel: (Channel, bool)) -> u32 {
        let count = self.0.entry(channel).or_default();
        *count += 1;
        *count - 1
    }
}

/// Consecutive messages of a channel.
#[derive(Debug, Clone, Copy, Default)]
struct Run {
    first: u32,
    len: u32,
}

impl Run {
    fn has(self, number: u32) -> bool {
        number.checked_sub(self.first).is_some_and(|behind| behind < self.len)
    }
}

/// By channel, the sends and the receives in the window. Other channels have no entry, so memory
/// grows with the window and not with the program.
#[derive(Debug, Default)]
pub(super) struct Channels(FxHashMap<Channel, [Run; 2]>);

impl Channels {
    /// Adds the messages of a rank. Returns the number of actions in the window.
    pub(super) fn add(&mut self, rank: u32, body: &Body, window: &Range<u64>) -> u64 {
        let mut counts = Counts::default();
        let mut in_window = 0;
        for (at, id) in (0..window.end).zip(order(body)) {
            let channel = channel(rank, body.action(id));
            let number = channel.map_or(0, |channel| counts.next(channel));
            if !window.contains(&at) {
                continue;
            }
            in_window += 1;
            if let Some((channel, is_receive)) = channel {
                // Those of a window follow each other.
                let run = &mut self.0.entry(channel).or_default()[usize::from(is_receive)];
                if run.len == 0 {
                    run.first = number;
                }
                run.len += 1;
            }
        }
        in_window
    }

    /// Drops channels without sends or without receives in the window.
    pub(super) fn without_halves(mut self) -> Self {
        self.0.retain(|_, [sends, receives]| sends.len > 0 && receives.len > 0);
        self.0.shrink_to_fit();
        self
    }

    /// Returns true if both ends of the message `number` of a channel are in the window.
    pub(super) fn has(&self, channel: Channel, number: u32) -> bool {
        self.0.get(&channel).is_some_and(|runs| runs.iter().all(|run| run.has(number)))
    }
}

/// Returns the actions in the order of positions. This is the order of the text, but each action
/// comes behind those that it waits for.
pub(super) fn order(body: &Body) -> Vec<ActionId> {
    let mut edges = body.requires.edges().chain(body.irequires.edges());
    if edges.all(|edge| edge.prerequisite < edge.waiter) {
        return body.ids().collect();
    }
    let mut missing = body.indegrees();
    let free = body.ids().filter(|id| missing[id.index()] == 0).map(Reverse);
    let mut ready: BinaryHeap<Reverse<ActionId>> = free.collect();
    let mut order = Vec::with_capacity(body.len());
    while let Some(Reverse(id)) = ready.pop() {
        order.push(id);
        for waiter in body.requires.row(id).iter().chain(body.irequires.row(id)) {
            missing[waiter.index()] -= 1;
            if missing[waiter.index()] == 0 {
                ready.push(Reverse(*waiter));
            }
        }
    }
    order
}
