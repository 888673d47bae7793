//! Only what waits is kept, in hash tables: for programs that are large for the memory.

use super::line::Shape;
use super::nodes::Nodes;
use super::program::Program;
use super::store::{Arrival, Delivery, Slot, Store};
use super::threads::Meeting;
use crate::channels::NONE;
use crate::source::{Actions, Source};
use crate::workload::{Kind, Record};
use rustc_hash::FxHashMap;

/// The messages and receives of a share that wait. Forgets a channel once nothing waits in it.
#[derive(Debug, Default)]
pub(super) struct Sparse {
    /// By receiver, source and tag: what waits for a partner that has no slot yet.
    channels: FxHashMap<(u32, u32, u32), Queue>,
    slots: Vec<Waiting>,
    /// The first free slot.
    free: u32,
    /// By rank whose receives name different processors or interfaces.
    texts: FxHashMap<u32, Text>,
}

/// Receives that were posted, or messages that were delivered, in order.
#[derive(Debug, Clone, Copy)]
struct Queue {
    first: u32,
    last: u32,
    has_receives: bool,
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    /// The node of a receive, or of a message that was taken in.
    node: u32,
    /// The next slot of the channel; of a free slot, the next free one.
    next: u32,
}

/// The receives of a rank by source and tag, and then in the order of the text.
#[derive(Debug)]
struct Text {
    /// Positions.
    receives: Vec<u32>,
    /// By the first receive of a channel, the number of messages delivered.
    delivered: FxHashMap<u32, u32>,
}

impl Text {
    fn new(rank: impl Actions) -> Self {
        let positions = rank.records().filter(|(_, record)| record.kind == Kind::Recv);
        let mut receives: Vec<u32> = positions.map(|(position, _)| position).collect();
        let key = |position: u32| {
            let record = rank.record(position);
            (record.peer, record.tag, position)
        };
        receives.sort_unstable_by_key(|&position| key(position));
        Self { receives, delivered: FxHashMap::default() }
    }

    /// Returns the receive at the place of the next message of a channel.
    fn next(&mut self, rank: impl Actions, from: u32, tag: u32) -> Option<u32> {
        let key = |position: u32| {
            let record = rank.record(position);
            (record.peer, record.tag)
        };
        let first = self.receives.partition_point(|&position| key(position) < (from, tag));
        let at = |index: usize| {
            let receive = self.receives.get(index).copied();
            receive.filter(|&receive| key(receive) == (from, tag))
        };
        // A channel with one receive needs no count.
        if at(first + 1).is_none() {
            return at(first);
        }
        let count = self.delivered.entry(first as u32).or_insert(0);
        *count += 1;
        at(first + *count as usize - 1)
    }
}

impl Sparse {
    /// Returns the slot for the next receive or message of a channel.
    fn slot(&mut self, channel: (u32, u32, u32), is_receive: bool) -> Slot {
        let queue = self.channels.get_mut(&channel);
        if let Some(queue) = queue.filter(|queue| queue.has_receives != is_receive) {
            let slot = queue.first;
            if queue.first == queue.last {
                self.channels.remove(&channel);
            } else {
                queue.first = self.slots[slot as usize].next;
            }
            return Slot(slot);
        }
        let slot = self.add_slot();
        match self.channels.get_mut(&channel) {
            Some(queue) => {
                self.slots[queue.last as usize].next = slot;
                queue.last = slot;
            }
            None => {
                let queue = Queue { first: slot, last: slot, has_receives: is_receive };
                self.channels.insert(channel, queue);
            }
        }
        Slot(slot)
    }

    fn add_slot(&mut self) -> u32 {
        let empty = Waiting { node: NONE, next: NONE };
        if self.free == NONE {
            self.slots.push(empty);
            return self.slots.len() as u32 - 1;
        }
        let slot = self.free;
        self.free = std::mem::replace(&mut self.slots[slot as usize], empty).next;
        slot
    }

    /// Returns the number of messages in a channel.
    fn len(&self, queue: &Queue) -> u64 {
        let next = |&slot: &u32| Some(self.slots[slot as usize].next);
        let slots = std::iter::successors(Some(queue.first), next);
        1 + slots.take_while(|&slot| slot != queue.last).count() as u64
    }
}

impl Store for Sparse {
    fn new<P: Source>(_: &Program<'_, P>, _: usize, _: &[Shape], _: &Meeting) -> Self {
        Self { free: NONE, ..Self::default() }
    }

    fn partner(&self, _: u32) -> u32 {
        NONE
    }

    fn is_known(&self, _: u32) -> bool {
        false
    }

    fn deliver(&mut self, arrival: &Arrival, unlike: Option<impl Actions>) -> Option<Delivery> {
        let &Arrival { rank, from, tag, .. } = arrival;
        let receive = match unlike {
            None => None,
            Some(actions) => {
                let text = self.texts.entry(rank).or_insert_with(|| Text::new(actions));
                Some(text.next(actions, from, tag)?)
            }
        };
        Some(Delivery { slot: self.slot((rank, from, tag), false), receive })
    }

    fn post(&mut self, rank: u32, _: u32, record: &Record) -> Option<Slot> {
        Some(self.slot((rank, record.peer, record.tag), true))
    }

    fn peek(&self, slot: Slot, nodes: &Nodes) -> u32 {
        let node = self.slots[slot.0 as usize].node;
        if node == NONE { NONE } else { nodes.at(node).number }
    }

    fn meet(&mut self, slot: Slot, node: u32) -> Option<u32> {
        let waiting = &mut self.slots[slot.0 as usize];
        if waiting.node == NONE {
            waiting.node = node;
            return None;
        }
        let found = std::mem::replace(waiting, Waiting { node: NONE, next: self.free });
        self.free = slot.0;
        Some(found.node)
    }

    fn unreceived(&self) -> u64 {
        let messages = self.channels.values().filter(|queue| !queue.has_receives);
        messages.map(|queue| self.len(queue)).sum()
    }
}
