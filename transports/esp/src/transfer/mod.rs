//! Transfers: the sending and the receiving end of one direction of a connection (thesis 3.2).
//!
//! A transfer is a run of packets that the sender had ready together. The sender repeats the start
//! and the end of a transfer until they are acknowledged; the receiver requests everything between
//! them. Both ends are state machines that know no time.
//!
//! Each end says if its retransmission timer runs ([`Sender::runs_timer`],
//! [`Receiver::is_in_control`]), and its owner reports when that timer has expired. The timers
//! depend on the state alone. So a model checker can let every timer expire at every moment.

mod receive;
mod send;
#[cfg(test)]
mod tests;

pub(crate) use receive::{Answer, Receiver};
pub(crate) use send::Sender;

use crate::limits::WINDOW_MAX;
use crate::seq::Seq;

/// The limits on packets in flight, and the rules by which packets are acknowledged and repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rules {
    /// The number of packets that a sender may send before the start of its first transfer is
    /// acknowledged; at least 1.
    pub initial_burst_length: u16,
    /// The number of packets that a receiver buffers until they are read, and the most that may be
    /// in flight to it; at most [`WINDOW_MAX`].
    pub burst_length: u16,
    /// A missing packet counts as lost once more than this many packets behind it have arrived.
    pub reordered_max: u16,
    /// The number of packets after which a receiver sends an acknowledgement unasked. If a quarter
    /// of the receiver's window is more, it takes the place of this number. A job sets this number
    /// to at most half of the initial burst.
    pub ack_every: u16,
    /// True if the sender repeats the end of a transfer as it repeats the start. The thesis does
    /// not do so, which leads to a deadlock (3.2.1). This is false only in the model that shows the
    /// deadlock.
    pub repeats_end: bool,
    /// True if every packet of the stream carries an acknowledgement. The first acknowledgement of
    /// a new connection may then wait for such a packet. This costs nothing if every frame has a
    /// tag anyway. Each connection sets this for itself.
    pub(crate) answers_with_data: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            initial_burst_length: 16,
            burst_length: 256,
            reordered_max: 3,
            ack_every: 8,
            repeats_end: true,
            answers_with_data: false,
        }
    }
}

impl Rules {
    /// Returns the number of packets in an initial burst. It is never more than a receiver buffers.
    pub(crate) fn initial(&self) -> u16 {
        self.initial_burst_length.min(self.burst_length)
    }

    /// Returns true if these numbers are within their limits.
    pub(crate) fn are_consistent(&self) -> bool {
        let Self { initial_burst_length, burst_length, ack_every, .. } = *self;
        initial_burst_length > 0 && ack_every > 0 && (1..=WINDOW_MAX).contains(&burst_length)
    }
}

/// The fields of an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Acknowledgement {
    /// The first missing packet.
    pub(crate) next: Seq,
    /// The number of packets from `next` on that may be sent.
    pub(crate) window: u16,
}
