//! The resolved model: a dependency graph in flat arrays for each rank.

mod action;
mod body;
mod buffers;
mod builder;
mod collectives;
mod csr;
mod debug;
mod memory;
mod order;
mod overlap;
mod stated;
mod stated_edges;
#[cfg(test)]
mod tests;

pub use action::{
    Action, ActionKind, MARKERS, Operand, Payload, Piece, Pieces, Placement, Space, is_marker,
};
pub use body::{Access, Body, Function, LocalOperation, Reduction};
pub use buffers::{
    BUFFER_BYTES_MAX, BUFFERS_MAX, OFFSET_BITS, TableError, buffer_address, buffer_of, flat_offsets,
};
pub use builder::{BodyBuilder, ProgramBuilder};
pub use collectives::{CollectiveForm, CollectiveStatement, NcclKind};
pub(crate) use collectives::{GROUP_KINDS, group_word};
pub use csr::{Csr, Edge};
pub use debug::{Debug, Labels};
pub use memory::{Datum, MemoryImage};
pub use order::{Cycle, topological_order};
pub use overlap::{overlaps_itself, partly_overlap};
pub use stated::{StatedOrder, StatedRows};
pub use stated_edges::StatedEdges;

use crate::ids::{BodyId, ImageId};

/// A group operation: for each rank the body that it runs, and the initial and the expected content
/// of its memory.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// One entry a rank, rank 0 first.
    pub ranks: Vec<RankEntry>,
    /// The distinct bodies.
    pub bodies: Vec<Body>,
    /// The distinct memory images.
    pub images: Vec<MemoryImage>,
}

/// The graph and the memory of one rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RankEntry {
    /// The graph of the rank.
    pub body: BodyId,
    /// The memory image of the rank. `None` stands for zeros at the start and no expectation at the
    /// end.
    pub image: Option<ImageId>,
}

impl Program {
    /// Number of ranks of the group.
    pub fn num_ranks(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// The graph that a rank runs.
    pub fn body_of(&self, rank: u32) -> &Body {
        &self.bodies[self.ranks[rank as usize].body.index()]
    }

    /// The memory image of a rank.
    pub fn image_of(&self, rank: u32) -> Option<&MemoryImage> {
        self.ranks[rank as usize].image.map(|id| &self.images[id.index()])
    }

    /// Returns the bytes of memory that a rank needs: up to the last byte that its actions, `init`
    /// and `expect` touch.
    pub fn memory_size(&self, rank: u32) -> u64 {
        let image = self.image_of(rank).map_or(0, MemoryImage::end);
        self.body_of(rank).extent(Space::Memory).max(image)
    }

    /// Returns true if a rank has a collective statement. The dummies that stand for collective
    /// statements have no meaning without them.
    pub fn has_collectives(&self) -> bool {
        self.bodies.iter().any(|body| !body.collectives.is_empty())
    }

    /// Returns the same program with each rank's memory as one region ([`Body::flattened`]).
    pub fn flattened(mut self) -> Self {
        self.bodies = self.bodies.into_iter().map(Body::flattened).collect();
        self
    }

    /// Drops names, places and the order in which dependencies were stated.
    pub fn strip(&mut self) {
        for body in &mut self.bodies {
            body.debug = Debug::default();
        }
    }
}
