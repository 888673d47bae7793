//! What is taken out of a ring in whatever order its items come, where the rank it goes to has no room.

use super::Run;
use crate::whole::order::BodyOrder;
use crate::whole::room::Item;
use crate::whole::{Ordered, Vertex};
use goal_lang::Action;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::fmt;

/// Items of rings and pairs of them that are looked at in a run. From there on items come in the order of the run.
const LOOKS_MAX: u64 = 1 << 24;

/// What orders the items of rings.
pub(super) struct Worst<'p> {
    /// By body, the order of its starts, made for the first question.
    orders: FxHashMap<usize, BodyOrder<'p>>,
    looks_left: u64,
}

impl Worst<'_> {
    pub(super) fn new() -> Self {
        Self { orders: FxHashMap::default(), looks_left: LOOKS_MAX }
    }
}

impl fmt::Debug for Worst<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worst").field("looks_left", &self.looks_left).finish_non_exhaustive()
    }
}

/// What happens to the items of a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    All,
    /// The item at a place, whatever comes before the others.
    One(usize),
    /// None, where this message comes before all others.
    NoneBehind(Vertex),
}

impl Run<'_, '_> {
    /// Which items of a ring to `rank`, in the order in which they started, are taken in every order that they may come in. A
    /// message without a receive may come before all but those that start before it in every run, or that its channel has before
    /// it.
    pub(super) fn sure(&mut self, rank: u32, items: &VecDeque<Item>) -> Taken {
        if self.worst.looks_left == 0 {
            return Taken::All;
        }
        let mut posted = FxHashMap::default();
        let mut blockers = Vec::new();
        let mut first = items.len();
        for (place, &item) in items.iter().enumerate() {
            self.worst.looks_left = self.worst.looks_left.saturating_sub(1);
            let Item::Message(send) = item else { continue };
            if self.has_receive(rank, send, &mut posted) {
                continue;
            }
            if place == 0 {
                return Taken::NoneBehind(send);
            }
            first = first.min(place);
            blockers.push(send);
        }
        let Some(&head) = blockers.first() else { return Taken::All };
        for (place, &item) in items.iter().enumerate().take(first) {
            let Item::Message(send) = item else { continue };
            if blockers.iter().all(|&blocker| self.comes_before(send, blocker)) {
                return Taken::One(place);
            }
        }
        Taken::NoneBehind(head)
    }

    /// Whether a message to `rank` has a receive when those before it have theirs; `posted` is by channel what these leave.
    fn has_receive(&mut self, rank: u32, send: Vertex, posted: &mut FxHashMap<usize, Vertex>) -> bool {
        if self.channels.is_wild(rank) {
            let Action::Send { to, tag, .. } = *self.whole.action(send) else { return true };
            return self.is_posted(send, to, tag);
        }
        let channel = self.channels.of(send);
        let left = posted.entry(channel).or_insert(self.posted[channel].head);
        let Some(recv) = left.some() else { return false };
        *left = self.next[recv.index()];
        true
    }

    /// Whether a message never comes behind another one of its ring that started later in this run, or may be taken for it.
    fn comes_before(&mut self, send: Vertex, other: Vertex) -> bool {
        if self.channels.of(send) == self.channels.of(other) {
            return true;
        }
        self.worst.looks_left = self.worst.looks_left.saturating_sub(1);
        let whole = self.whole;
        let body = whole.program.ranks[whole.rank(send) as usize].body.index();
        let order = self.worst.orders.entry(body).or_insert_with(|| BodyOrder::new(whole.body(send)));
        order.starts_before(whole.id(send), whole.id(other)) == Ordered::Yes
    }
}
