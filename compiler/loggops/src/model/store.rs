//! The messages and receives of a share that wait for each other.

use super::line::Shape;
use super::nodes::Nodes;
use super::program::Program;
use super::threads::Meeting;
use crate::source::{Actions, Source};
use crate::workload::Record;

/// A receive or a message in the place where it meets its partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot(pub(super) u32);

/// The place of a message that arrives.
#[derive(Debug, Clone, Copy)]
pub(super) struct Delivery {
    pub(super) slot: Slot,
    /// The position of the receive whose processor and interface take the message in. `None` if the
    /// store does not know it.
    pub(super) receive: Option<u32>,
}

/// A message that arrives.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    /// The rank that receives.
    pub(super) rank: u32,
    /// The number of its first action.
    pub(super) first: u32,
    pub(super) from: u32,
    pub(super) tag: u32,
    /// The answer of [`Store::partner`] for the send.
    pub(super) partner: u32,
}

/// Keeps the nodes of receives and messages that wait for each other. The k-th message of a channel
/// that is delivered meets the k-th receive that is posted.
pub(super) trait Store: Sized {
    /// Makes the store of a share, together with those of the other shares. `shapes` has the shapes
    /// of the share's ranks.
    fn new<P: Source>(
        program: &Program<'_, P>,
        number: usize,
        shapes: &[Shape],
        meeting: &Meeting,
    ) -> Self;

    /// Returns what is known of a send's partner, for its receiver.
    fn partner(&self, send: u32) -> u32;

    /// Returns true if the partner of a receive is known, so that the order in which receives are
    /// posted does not matter.
    fn is_known(&self, receive: u32) -> bool;

    /// Returns where a message goes; `None` if no receive takes it. `unlike` has the receiver, if
    /// its receives name different processors or interfaces.
    fn deliver(&mut self, arrival: &Arrival, unlike: Option<impl Actions>) -> Option<Delivery>;

    /// Returns where a receive goes; `None` if no message is for it.
    fn post(&mut self, rank: u32, receive: u32, record: &Record) -> Option<Slot>;

    /// Returns the number of the receive or the message that waits in a slot, or
    /// [`NONE`](crate::channels::NONE).
    fn peek(&self, slot: Slot, nodes: &Nodes) -> u32;

    /// Keeps a receive that was posted at time 0 without a node, if the store can.
    fn keep_early(&mut self, _slot: Slot, _receive: u32) -> bool {
        false
    }

    /// Returns the receive that [`keep_early`](Self::keep_early) has put into a slot.
    fn early(&self, _slot: Slot) -> Option<u32> {
        None
    }

    /// Returns the node that waits in a slot. Without one, keeps `node` there.
    fn meet(&mut self, slot: Slot, node: u32) -> Option<u32>;

    /// Returns the number of messages that no receive was posted for, as far as the store counts
    /// them.
    fn unreceived(&self) -> u64 {
        0
    }
}
