//! A collective among some ranks, as one of them sees it.

use crate::buf::{Address, Buf};
use crate::request::{Blocks, Request};
use goal_lang::CollectiveKind;
use std::sync::Arc;

/// A collective among some ranks of a program, as one of them sees it. The collective numbers its
/// ranks from 0 on.
#[derive(Debug, Clone)]
pub(crate) struct View {
    pub(crate) kind: CollectiveKind,
    pub(crate) me: u32,
    pub(crate) ranks: u32,
    pub(crate) root: u32,
    /// The program's rank for each number of the collective; `None` if all ranks take part under
    /// their own numbers.
    pub(crate) members: Option<Arc<[u32]>>,
    /// The root's number in the collective and its rank in the program, if `members` has another
    /// rank for this number.
    pub(crate) root_member: Option<(u32, u32)>,
    /// The place of the input; `None` if it lies where the output will be.
    pub(crate) input: Option<Address>,
    pub(crate) output: Address,
    /// The elements of a block, if all blocks are equal.
    pub(crate) count: u64,
    pub(crate) blocks: Blocks,
    /// The bytes of an element.
    pub(crate) width: u64,
}

impl View {
    /// Returns the view that a rank of the request has.
    pub(crate) fn new(request: &Request, me: u32) -> Self {
        Self {
            kind: request.kind,
            me,
            ranks: request.ranks,
            root: request.root,
            members: None,
            root_member: None,
            input: request.input.map(Address::memory),
            output: Address::memory(request.output),
            count: request.count,
            blocks: request.blocks.clone(),
            width: request.datatype.width(),
        }
    }

    /// Returns the size in bytes of a block, if all blocks are equal.
    pub(crate) fn block(&self) -> u64 {
        if self.kind == CollectiveKind::Barrier { 0 } else { self.count * self.width }
    }

    /// Returns the offset and the size in bytes of a rank's block. It lies in the buffer of all
    /// sent blocks if `is_sent` is true, otherwise in the buffer of all received blocks.
    fn span(&self, rank: u32, is_sent: bool) -> (u64, u64) {
        let list = match &self.blocks {
            Blocks::Equal => {
                let block = self.block();
                return (u64::from(rank) * block, block);
            }
            Blocks::Own(count) => {
                debug_assert_eq!(rank, self.me, "the blocks of others are not known");
                return (0, count * self.width);
            }
            Blocks::Each(list) => list,
            Blocks::Pairs { send, recv } => {
                if is_sent {
                    send
                } else {
                    recv
                }
            }
        };
        let at = rank as usize;
        (list.displacements()[at] * self.width, list.counts()[at] * self.width)
    }

    /// Returns a rank's block in a buffer of all blocks that starts at 0.
    pub(crate) fn sent_block(&self, rank: u32) -> Buf {
        let (offset, size) = self.span(rank, true);
        Address::memory(0).part(offset, size)
    }

    /// Returns the size in bytes of a rank's block, for collectives in which it is the same at the
    /// sender and at the receiver.
    pub(crate) fn block_of(&self, rank: u32) -> u64 {
        self.span(rank, true).1
    }

    /// Returns the place of a rank's block in the output.
    pub(crate) fn output_of(&self, rank: u32) -> Buf {
        let (offset, size) = self.span(rank, false);
        self.output.part(offset, size)
    }

    /// Returns the place of the block for a rank in the input.
    pub(crate) fn input_for(&self, rank: u32) -> Buf {
        match self.input {
            Some(input) => {
                let (offset, size) = self.span(rank, true);
                input.part(offset, size)
            }
            None if self.kind.has_neighbors() => {
                let (offset, size) = self.span(rank, true);
                self.output.part(offset, size)
            }
            // In place, the block for a rank lies where the block from that rank will be.
            None => self.output_of(rank),
        }
    }

    /// Returns the block that this rank contributes to a gather or an allgather.
    pub(crate) fn own_input(&self) -> Buf {
        use CollectiveKind as Kind;
        match (self.input, self.kind) {
            (input, Kind::NeighborAllgather) => {
                input.unwrap_or(self.output).part(0, self.block_of(0))
            }
            (Some(input), _) => input.part(0, self.block_of(self.me)),
            (None, Kind::Gather) if self.me != self.root => {
                self.output.part(0, self.block_of(self.me))
            }
            (None, _) => self.output_of(self.me),
        }
    }

    /// Returns the place of this rank's block in the output, for collectives whose output is one
    /// block.
    pub(crate) fn own_output(&self) -> Buf {
        self.output.part(0, self.block_of(self.me))
    }

    /// Returns the program's rank for a number of the collective.
    pub(crate) fn member(&self, rank: u32) -> u32 {
        match (&self.members, self.root_member) {
            (_, Some((root, member))) if root == rank => member,
            (Some(members), _) => members[rank as usize],
            (None, _) => rank,
        }
    }
}
