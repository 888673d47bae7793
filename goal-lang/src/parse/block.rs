//! What the parser knows of one rank block before its ranks are put together.

use crate::program::{Body, Datum, Edge};
use crate::source::{Position, Span};

/// The two kinds of dependencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DependencyKind {
    /// `requires`, `requ`: the other action must be complete.
    Completion,
    /// `irequires`: the other action must have started.
    Start,
}

/// A dependency whose labels the block itself does not all define.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pending {
    pub(crate) kind: DependencyKind,
    pub(crate) waiter: Span,
    pub(crate) prerequisite: Span,
    /// Its place among the block's dependencies of this kind: that of an entry which stands for it
    /// until it is resolved.
    pub(crate) at: u32,
}

/// The dependencies of a block in the order of the text, with the places where they were stated if
/// these are kept.
#[derive(Debug, Default)]
pub(crate) struct Dependencies {
    pub(crate) edges: Vec<Edge>,
    pub(crate) places: Vec<Position>,
}

impl Dependencies {
    pub(crate) fn clear(&mut self) {
        self.edges.clear();
        self.places.clear();
    }
}

/// An `init` or `expect`.
#[derive(Debug, Clone)]
pub(crate) struct Declared {
    pub(crate) place: Span,
    pub(crate) expect: bool,
    pub(crate) datum: Datum,
}

/// One rank block, or one file of bare statements.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// Its actions, and its dependencies if its own labels resolve all of them. `debug.actions` is
    /// always there.
    pub(crate) body: Body,
    /// `requires` and `irequires` where other blocks have to resolve some of them.
    pub(crate) unresolved: Option<Box<[Dependencies; 2]>>,
    /// From the head's end to the closing brace, in the source map.
    pub(crate) start: Position,
    pub(crate) end: Position,
    pub(crate) pending: Vec<Pending>,
    pub(crate) data: Vec<Declared>,
    /// The largest rank that a message names.
    pub(crate) peer_max: Option<u32>,
    /// First byte past the scratch memory that buffers use.
    pub(crate) scratch_end: u64,
    /// Whether an action waits for itself or for a later one, so that there may be a cycle.
    pub(crate) backward: bool,
}

impl Block {
    /// Number of completion dependencies.
    pub(crate) fn num_requires(&self) -> usize {
        self.body.requires.len() + self.unresolved.as_ref().map_or(0, |kinds| kinds[0].edges.len())
    }

    /// Whether the block adds nothing to a graph.
    pub(crate) fn is_without_graph(&self) -> bool {
        self.body.is_empty() && self.pending.is_empty() && self.body.scratch == 0
    }
}

/// A rank in the list at the head of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member {
    pub(crate) rank: u32,
    pub(crate) place: Position,
    pub(crate) block: u32,
}

/// A stretch of text that begins and ends outside of rank blocks.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    pub(crate) blocks: Vec<Block>,
    pub(crate) members: Vec<Member>,
    /// The blocks of `rank *`.
    pub(crate) every: Vec<u32>,
    /// Every `num_ranks` and its number.
    pub(crate) declared: Vec<(u32, Span)>,
    /// Whether it is a file of bare statements.
    pub(crate) bare: bool,
    /// Whether its last token is the end of a block.
    pub(crate) ends_with_block: bool,
    /// Places that the grammar refused.
    pub(crate) syntax_errors: u32,
    /// Whether the parser gave up.
    pub(crate) gave_up: bool,
}
