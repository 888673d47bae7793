//! Transfers: both ends of one direction of a connection, as machines that know no time (thesis
//! 3.2).
//!
//! Whoever owns them says when a timer has passed; which timers run follows from their state alone
//! ([`Sender::insists`], [`Receiver::controls`]). So a model checker can let every timer pass at
//! every moment.

mod receive;
mod send;
#[cfg(test)]
mod tests;

pub use receive::{Answer, Receiver};
pub use send::{Queued, Sender};

use crate::limits::WINDOW_MAX;

/// How much may be on its way, and who insists on what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rules {
    /// Packets that a sender lets out before the start of a transfer is acknowledged; at least 1.
    pub initial_burst_length: u16,
    /// Packets that a receiver takes before they are read, and the most that it lets be on their
    /// way; at most [`WINDOW_MAX`].
    pub burst_length: u16,
    /// Packets behind a missing one that make it count as lost.
    pub reordered_max: u16,
    /// Packets after which a receiver acknowledges without being asked, or a quarter of what may be
    /// on its way, if that is more; at most half of the initial burst.
    pub ack_every: u16,
    /// Whether a sender insists on the end of a transfer as on its start. The thesis does not, and
    /// says what follows from that (3.2.1); this is for the model that shows it.
    pub insists_on_end: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            initial_burst_length: 16,
            burst_length: 256,
            reordered_max: 3,
            ack_every: 8,
            insists_on_end: true,
        }
    }
}

impl Rules {
    /// Packets of an initial burst: never more than a receiver takes.
    pub(crate) fn initial(&self) -> u16 {
        self.initial_burst_length.min(self.burst_length)
    }

    /// Whether they can be followed.
    pub fn are_possible(&self) -> bool {
        let Self { initial_burst_length, burst_length, ack_every, .. } = *self;
        initial_burst_length > 0 && ack_every > 0 && (1..=WINDOW_MAX).contains(&burst_length)
    }
}
