//! A check of programs that are too large for [`check`](crate::check()). It takes ranks one at a
//! time. It keeps 12 bytes for each action, 4 for each dependency, and some 30 for each source,
//! destination and tag of messages.
//!
//! It either shows that there is nothing to find, or doubts it and says why. Then only
//! [`check`](crate::check()) knows. There is nothing to find if all of this holds:
//!
//! - No action names memory, and no receive has a wildcard.
//! - The sends and the receives of a source, a destination and a tag start one after the other. So
//!   each message has one receive in all orders of events.
//! - In that order they have the same sizes. Sums of hashes compare them.
//! - In one run in which every send waits for its receive, all actions end. So they end in every
//!   order, and however much is sent at once.

mod doubt;
mod messages;
mod run;
#[cfg(test)]
mod tests;

pub use doubt::Doubt;
use goal_lang::{ANY, Action, Payload};
use messages::{Channels, Direction, RankMessages};
use run::{Graph, LOCAL, START};

/// A check that ranks are added to in order: [`begin_rank`](Self::begin_rank), its actions by
/// [`push`](Self::push), [`end_rank`](Self::end_rank).
#[derive(Debug, Default)]
pub struct CompactCheck {
    graph: Graph,
    channels: Channels,
    rank: u32,
    /// The number of the first action of the rank.
    first: u32,
    /// The rank's sends and receives with their channels.
    messages: RankMessages,
}

impl CompactCheck {
    /// Makes room for actions.
    pub fn with_capacity(actions: u64) -> Self {
        Self { graph: Graph::with_capacity(actions), ..Self::default() }
    }

    /// Begins the rank with this number.
    pub fn begin_rank(&mut self, rank: u32) {
        self.rank = rank;
        self.first = self.graph.len();
        self.messages.clear();
    }

    /// Adds the next action of the rank, with the number of its dependencies, and the actions of
    /// the rank that wait for its end and for its start.
    ///
    /// # Errors
    /// The check can't know if there is something to find.
    pub fn push(
        &mut self,
        action: &Action,
        missing: u32,
        waiters: impl Iterator<Item = u32>,
        start_waiters: impl Iterator<Item = u32>,
    ) -> Result<(), Doubt> {
        let rank = self.rank;
        let (channel, message) = match *action {
            Action::Send { payload: Payload::Pattern { size }, to, tag, .. } => {
                let (channel, key) = self.channels.of(rank, to, tag).ok_or(Doubt::TooLarge)?;
                (Direction::Send.of(channel), Some((Direction::Send, channel, key, size)))
            }
            Action::Recv { payload: Payload::Pattern { size }, from, tag, .. } => {
                if from == ANY || tag == ANY {
                    return Err(Doubt::Wildcard { rank });
                }
                let (channel, key) = self.channels.of(from, rank, tag).ok_or(Doubt::TooLarge)?;
                (Direction::Recv.of(channel), Some((Direction::Recv, channel, key, size)))
            }
            Action::Calc { .. } | Action::Nop | Action::Marker { .. } => (LOCAL, None),
            _ => return Err(Doubt::Data { rank }),
        };
        let own = self.graph.len() - self.first;
        if let Some((direction, channel, key, size)) = message {
            let number = self.messages.push(own, direction, channel);
            self.channels.count(direction, key, number, size);
        }
        let first = self.first;
        let ends = waiters.map(|waiter| (waiter, 0));
        for (waiter, kind) in ends.chain(start_waiters.map(|waiter| (waiter, START))) {
            if waiter <= own {
                return Err(Doubt::Backward { rank });
            }
            self.graph.edge(first, waiter, kind)?;
        }
        self.graph.action(missing, channel)
    }

    /// Ends the rank: compares the order of its messages.
    ///
    /// # Errors
    /// The check can't know if there is something to find.
    pub fn end_rank(&mut self) -> Result<(), Doubt> {
        match self.messages.are_ordered(&self.graph, self.first) {
            true => Ok(()),
            false => Err(Doubt::Unordered { rank: self.rank }),
        }
    }

    /// Returns if there is nothing to find.
    ///
    /// # Errors
    /// The check can't know if there is something to find.
    pub fn finish(self) -> Result<(), Doubt> {
        let channels = self.channels.matched().ok_or(Doubt::Unequal)?;
        match self.graph.run(channels) {
            0 => Ok(()),
            left => Err(Doubt::Stuck { left }),
        }
    }
}
