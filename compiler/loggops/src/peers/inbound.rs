//! The line of messages that wait for one processor and one interface in LogGOPSim's model.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A number and the send of a message.
type Numbered = (u32, u32);

/// Messages in the order of their numbers.
#[derive(Debug, Default)]
pub(super) struct Inbound {
    /// The messages that came in the order of numbers, as nearly all do.
    in_order: VecDeque<Numbered>,
    others: BinaryHeap<Reverse<Numbered>>,
    /// The time and the number with which the first message is in the queue of events. Messages
    /// with less numbers may have come since that wait for a later time.
    entry: (u64, u32),
}

impl Inbound {
    /// Returns true if a message that waits until `free` comes before the first of the line.
    pub(super) fn is_before(&self, free: u64, number: u32) -> bool {
        self.first().is_some() && (free, number) < self.entry
    }

    /// Adds a message. Returns true if it is the only one.
    pub(super) fn push(&mut self, number: u32, send: u32) -> bool {
        let is_only = self.first().is_none();
        match self.in_order.back() {
            Some(&(last, _)) if number < last => self.others.push(Reverse((number, send))),
            _ => self.in_order.push_back((number, send)),
        }
        is_only
    }

    fn first(&self) -> Option<Numbered> {
        match (self.in_order.front(), self.others.peek()) {
            (Some(&first), Some(&Reverse(other))) => Some(first.min(other)),
            (first, other) => first.or(other.map(|other| &other.0)).copied(),
        }
    }

    /// Returns the first message, which is in the queue of events with the time `free` from now on.
    pub(super) fn expect(&mut self, free: u64) -> Option<Numbered> {
        let first = self.first()?;
        self.entry = (free, first.0);
        Some(first)
    }

    /// Removes the first message.
    pub(super) fn pop(&mut self) {
        if self.first() == self.in_order.front().copied() {
            self.in_order.pop_front();
        } else {
            self.others.pop();
        }
    }
}
