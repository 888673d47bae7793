//! The ranks, buffers and blocks of the collective that is generated.

use super::Rank;
use crate::buf::{Buf, joined};
use crate::request::Blocks;
use crate::view::View;
use goal_lang::CollectiveKind;

impl Rank<'_> {
    /// Returns the generator of another algorithm; `None` if there is none, or if this algorithm
    /// takes no others.
    pub(crate) fn find(&self, kind: CollectiveKind, name: &str) -> Option<fn(&mut Rank<'_>)> {
        self.find.and_then(|find| find(kind, name))
    }

    /// Returns the collective that is generated.
    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    /// Returns this rank's number in the collective.
    pub(crate) fn me(&self) -> u32 {
        self.view.me
    }

    /// Returns the number of ranks of the collective.
    pub(crate) fn ranks(&self) -> u32 {
        self.view.ranks
    }

    pub(crate) fn root(&self) -> u32 {
        self.view.root
    }

    pub(crate) fn is_root(&self) -> bool {
        self.me() == self.root()
    }

    pub(crate) fn is_in_place(&self) -> bool {
        self.view.input.is_none()
    }

    /// Returns true if all blocks are equal and lie one behind the other.
    pub(crate) fn has_equal_blocks(&self) -> bool {
        self.view.blocks == Blocks::Equal
    }

    /// Returns true if the blocks lie one behind the other.
    pub(crate) fn has_packed_blocks(&self) -> bool {
        match &self.view.blocks {
            Blocks::Equal => true,
            Blocks::Each(list) => list.is_packed(),
            Blocks::Own(_) | Blocks::Pairs { .. } => false,
        }
    }

    /// Returns the size in bytes of a block, if all blocks are equal.
    pub(crate) fn block(&self) -> u64 {
        self.view.block()
    }

    /// Returns the size in bytes of a rank's block.
    pub(crate) fn block_of(&self, rank: u32) -> u64 {
        self.view.block_of(rank)
    }

    /// Returns the total size in bytes of the blocks of `count` ranks from `first` on, in the
    /// circle of all ranks.
    pub(crate) fn bytes_of(&self, first: u32, count: u32) -> u64 {
        let parts = self.circle(first, count, |number| self.view.sent_block(number));
        parts.into_iter().map(Buf::size).sum()
    }

    /// Returns the size of an element in bytes.
    pub(crate) fn width(&self) -> u64 {
        self.view.width
    }

    /// Returns the rank that is `distance` places above this one, in the circle of all ranks.
    pub(crate) fn up(&self, distance: u32) -> u32 {
        let (me, ranks) = (u64::from(self.me()), u64::from(self.ranks()));
        ((me + u64::from(distance)) % ranks) as u32
    }

    /// Returns the rank that is `distance` places below this one, in the circle of all ranks.
    pub(crate) fn down(&self, distance: u32) -> u32 {
        let ranks = self.ranks();
        self.up(ranks - distance % ranks)
    }

    /// Returns `blocks` equal blocks of the output.
    pub(crate) fn output(&self, blocks: u32) -> Buf {
        self.view.output.part(0, u64::from(blocks) * self.block())
    }

    /// Returns `blocks` equal blocks of the input, from its start. In place, the input lies where
    /// the output does.
    pub(crate) fn input(&self, blocks: u32) -> Buf {
        let size = u64::from(blocks) * self.block();
        self.view.input.unwrap_or(self.view.output).part(0, size)
    }

    /// Returns the block that this rank contributes to a gather or an allgather.
    pub(crate) fn own_input(&self) -> Buf {
        self.view.own_input()
    }

    /// Returns the place of this rank's block in the output, for collectives whose output is one
    /// block.
    pub(crate) fn own_output(&self) -> Buf {
        self.view.own_output()
    }

    /// Returns the place of a rank's block in the output.
    pub(crate) fn output_of(&self, rank: u32) -> Buf {
        self.view.output_of(rank)
    }

    /// Returns the place of the block for a rank in the input.
    pub(crate) fn input_for(&self, rank: u32) -> Buf {
        self.view.input_for(rank)
    }

    /// Returns the blocks of `count` ranks from `first` on, in the circle of all ranks. `of`
    /// returns the block of a rank. Blocks that lie one behind the other are joined. If all blocks
    /// do, the time does not depend on their number.
    pub(crate) fn circle(&self, first: u32, count: u32, of: impl Fn(u32) -> Buf) -> Vec<Buf> {
        let first_part = count.min(self.ranks() - first);
        if self.has_packed_blocks() && count > 0 {
            let part = |first: u32, count: u32| of(first).until(of(first + count - 1));
            let mut parts = vec![part(first, first_part)];
            if first_part < count {
                parts.push(part(0, count - first_part));
            }
            parts.retain(|part| part.size() > 0 || self.has_equal_blocks());
            return parts;
        }
        joined((first..first + first_part).chain(0..count - first_part).map(of))
    }
}
