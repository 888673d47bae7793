//! Loads the data of the next jobs of several ranks at once. So the processor waits for memory once
//! for all of them.

use super::hooks::{Noise, Observer};
use super::line::Line;
use super::parts::Effect;
use super::share::Share;
use super::store::{Slot, Store};
use crate::channels::NONE;
use crate::source::{Actions, Source};

impl<P: Source, N: Noise, O: Observer, S: Store> Share<'_, P, N, O, S> {
    /// Reads the lines of some ranks and the starts of their actions. Reads that don't depend on
    /// each other overlap.
    pub(super) fn load_starts(&self, ranks: &[u32]) {
        let mut read = 0;
        for &at in ranks {
            let Line { wake, first, .. } = &self.lines.lines[at as usize];
            let count = self.program.source.rank(self.first_rank + at).count();
            read ^= *wake ^ u64::from(first ^ count);
        }
        std::hint::black_box(read);
    }

    /// Reads what [`simulate_rank`](Self::simulate_rank) needs of some ranks, as
    /// [`load_starts`](Self::load_starts) does.
    pub(super) fn load_ranks(&self, ranks: &[u32]) {
        let mut read = 0;
        for &at in ranks {
            let line = &self.lines.lines[at as usize];
            let actions = self.program.source.rank(self.first_rank + at);
            let [work, send, message, post] = line.queues.map(|queue| queue.head);
            let receive = match message {
                NONE => NONE,
                // A plain rank has no wildcards, so this is a slot.
                message => self.store.peek(Slot(self.nodes.at(message).detail), &self.nodes),
            };
            let number = |node| if node == NONE { NONE } else { self.nodes.at(node).number };
            for number in [number(work), number(send), number(post), receive] {
                // There may be no job, and another message may wait in the slot.
                let position = number.wrapping_sub(line.first);
                if position < actions.count() {
                    let waiter = actions.waiters(position).next();
                    read ^= waiter.map_or(0, |waiter| actions.missing(waiter));
                }
            }
        }
        std::hint::black_box(read);
    }

    /// Reads what effects need, as [`load_starts`](Self::load_starts) does.
    pub(super) fn load_effects(&self, effects: &[Effect]) {
        let mut read = 0;
        for effect in effects {
            let at = (effect.rank - self.first_rank) as usize;
            let Line { wake, first, .. } = &self.lines.lines[at];
            read ^= *wake ^ u64::from(*first);
        }
        std::hint::black_box(read);
    }
}
