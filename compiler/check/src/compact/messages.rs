//! The channels of messages: their sizes, and the order of their ends.

use super::run::{Graph, START};
use rustc_hash::FxHashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The most actions that are looked at to find that two messages are ordered.
const LOOKS_MAX: usize = 4096;

/// The two ends of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Direction {
    Send,
    Recv,
}

impl Direction {
    /// Returns the kind of an action of this direction and channel, which is never
    /// [`LOCAL`](super::run::LOCAL).
    pub(super) fn of(self, channel: u32) -> u32 {
        (channel + 1) << 1 | u32::from(self == Direction::Recv)
    }
}

/// The source, the destination and the tag of messages.
type Key = (u32, u32, u32);

/// The channels of all ranks.
#[derive(Debug, Default)]
pub(super) struct Channels {
    numbers: FxHashMap<Key, u32>,
    /// The sum of the hashes of all sends, less that of all receives. Each message is hashed with
    /// its channel, its number in it and its size.
    difference: u64,
}

impl Channels {
    /// Returns the number of a channel, and its key. Returns `None` if there are too many.
    pub(super) fn of(&mut self, source: u32, destination: u32, tag: u32) -> Option<(u32, Key)> {
        let key = (source, destination, tag);
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry(key).or_insert(next);
        (number < START / 2 - 1).then_some((number, key))
    }

    /// Counts a message, which is number `number` of its channel at this end.
    pub(super) fn count(&mut self, direction: Direction, key: Key, number: u32, size: u64) {
        let mut hasher = DefaultHasher::new();
        (key, number, size).hash(&mut hasher);
        let hash = hasher.finish();
        self.difference = match direction {
            Direction::Send => self.difference.wrapping_add(hash),
            Direction::Recv => self.difference.wrapping_sub(hash),
        };
    }

    /// Returns the number of channels if each has as many sends as receives, of the same sizes.
    pub(super) fn matched(self) -> Option<u32> {
        (self.difference == 0).then_some(self.numbers.len() as u32)
    }
}

/// The messages of a rank.
#[derive(Debug, Default)]
pub(super) struct RankMessages {
    /// By channel and direction, the last message and its number in the channel.
    last: FxHashMap<(u32, Direction), (u32, u32)>,
    /// Messages that follow each other in a channel.
    pairs: Vec<(u32, u32)>,
    /// By action, the number of the last search that came by.
    seen: Vec<u32>,
    stack: Vec<u32>,
}

impl RankMessages {
    pub(super) fn clear(&mut self) {
        self.last.clear();
        self.pairs.clear();
    }

    /// Adds a message. Returns its number among those of its channel and direction.
    pub(super) fn push(&mut self, action: u32, direction: Direction, channel: u32) -> u32 {
        let Some(last) = self.last.get_mut(&(channel, direction)) else {
            self.last.insert((channel, direction), (action, 0));
            return 0;
        };
        self.pairs.push((last.0, action));
        *last = (action, last.1 + 1);
        last.1
    }

    /// Returns true if the messages of each channel and direction start one after the other. The
    /// actions of the rank begin at `first`, and each waits only for those before it.
    pub(super) fn are_ordered(&mut self, graph: &Graph, first: u32) -> bool {
        self.seen.clear();
        self.seen.resize((graph.len() - first) as usize, 0);
        let Self { pairs, seen, stack, .. } = self;
        (1..).zip(pairs.iter()).all(|(search, &(from, to))| {
            stack.clear();
            stack.push(from);
            let mut looks = 0;
            while let Some(action) = stack.pop() {
                for waiter in graph.waiters(first + action) {
                    let waiter = (waiter & !START) - first;
                    looks += 1;
                    if waiter == to {
                        return true;
                    }
                    if waiter < to
                        && std::mem::replace(&mut seen[waiter as usize], search) != search
                    {
                        stack.push(waiter);
                    }
                }
                if looks > LOOKS_MAX {
                    return false;
                }
            }
            false
        })
    }
}
