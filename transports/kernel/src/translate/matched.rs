//! The graphs of all ranks and the matches of their messages. Each rank's part is built from them.

use crate::graph::Graph;
use crate::matching::Matching;

#[derive(Debug)]
pub(super) struct Matched {
    pub(super) graphs: Vec<Graph>,
    pub(super) matching: Matching,
    /// By rank and action, the number of the message's first portion among the engine's sends or
    /// receives of the rank. It is `NONE` for messages of a rank to itself, and for other actions.
    pub(super) numbers: Vec<Vec<u32>>,
    /// Pairs (receiver, sender), ascending. The sender waits for the receiver's acknowledgement of
    /// a run before it begins the next run but one.
    pub(super) acks: Vec<(u32, u32)>,
    /// The most bytes of payload of a frame.
    pub(super) fragment: u32,
}

impl Matched {
    pub(super) fn fragments(&self, bytes: u32) -> u16 {
        bytes.div_ceil(self.fragment).max(1) as u16
    }
}
