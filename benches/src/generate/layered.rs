//! Random graphs in layers: local operations, and messages between the ranks' same layers.
//!
//! Each action writes eight bytes of its own and reads those of an action that it depends on, so
//! nothing races. A message goes from a layer to the same layer of another rank under a tag of its
//! own. So its match is certain, and ranks can't wait for each other in a cycle, whatever room
//! buffers have.

use super::{Pattern, Shape};
use std::io::{self, Write};

/// The layers of all ranks; which of their actions are messages, and between whom, is the same for
/// all.
pub(super) struct Layers {
    ranks: u64,
    /// Actions of a rank.
    actions: u64,
    width: u64,
    degree: u64,
    seed: u64,
    /// True if dependencies reach back to any layer.
    dense: bool,
}

/// The kind of an action.
#[derive(Clone, Copy)]
enum Kind {
    Local,
    /// A send to the rank so far above.
    Send(u64),
    /// A receive from the rank so far below.
    Recv(u64),
}

impl Layers {
    pub(super) fn new(shape: &Shape) -> Self {
        let ranks = u64::from(shape.num_ranks());
        Self {
            ranks,
            actions: shape.actions / ranks,
            width: shape.width,
            degree: shape.degree(),
            seed: shape.seed,
            dense: shape.pattern == Pattern::Dense,
        }
    }

    pub(super) fn write(&self, out: &mut impl Write, rank: u32) -> io::Result<()> {
        for action in 0..self.actions {
            let needs = self.dependencies(rank, action);
            let read = 8 * needs.first().copied().unwrap_or(action);
            match self.kind(action) {
                Kind::Local => {
                    writeln!(out, "l{action}: exec sumInt64 with {read},8 {},8", 8 * action)?
                }
                Kind::Send(distance) => {
                    let to = (u64::from(rank) + distance) % self.ranks;
                    writeln!(out, "l{action}: send {read},8 to {to} tag {action}")?;
                }
                Kind::Recv(distance) => {
                    let from = (u64::from(rank) + self.ranks - distance) % self.ranks;
                    writeln!(
                        out,
                        "l{action}: recv {},8 from {from} tag {}",
                        8 * action,
                        action - 1
                    )?;
                }
            }
            for need in needs {
                writeln!(out, "l{action} requires l{need}")?;
            }
        }
        Ok(())
    }

    /// Returns the kind of an action. One in four pairs of neighbours in a layer is a send and a
    /// receive.
    fn kind(&self, action: u64) -> Kind {
        let column = action % self.width;
        let first = action - column % 2;
        let pair = column - column % 2 + 1 < self.width && first + 1 < self.actions;
        let dice = self.dice([u64::MAX, first, 0]);
        if !pair || self.ranks == 1 || !dice.is_multiple_of(4) {
            return Kind::Local;
        }
        let distance = 1 + (dice >> 2) % (self.ranks - 1);
        if action == first { Kind::Send(distance) } else { Kind::Recv(distance) }
    }

    /// Returns the earlier actions that an action depends on. Splits the candidates into parts of
    /// about equal length, and draws one action from each part. So no action is drawn twice.
    fn dependencies(&self, rank: u32, action: u64) -> Vec<u64> {
        let begin = action - action % self.width;
        let from = if self.dense { 0 } else { begin.saturating_sub(self.width) };
        let choice = begin - from;
        if choice == 0 {
            return Vec::new();
        }
        let key = |salt| [u64::from(rank), action, salt];
        let degree = if self.dense { self.degree } else { 1 + self.dice(key(0)) % self.degree };
        let part = |i| from + choice * i / degree;
        (0..degree).map(|i| part(i) + self.dice(key(i + 1)) % (part(i + 1) - part(i))).collect()
    }

    /// Returns a number that depends on the seed and the key only (the finaliser of splitmix64).
    fn dice(&self, key: [u64; 3]) -> u64 {
        key.iter().fold(self.seed, |state, &part| {
            let mut z = (state ^ part).wrapping_add(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        })
    }
}
