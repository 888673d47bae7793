//! The parser's results: rank blocks, before ranks are made of them.

use crate::ids::ActionId;
use crate::program::{Body, Datum, Edge};
use crate::relative::RelativePeer;
use crate::source::{Position, Span};

/// The two kinds of dependencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DependencyKind {
    /// `requires`, `requ`: the action waits for the completion of the other one.
    Completion,
    /// `irequires`: the action waits for the start of the other one.
    Start,
}

/// A dependency with a label that its block does not define.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pending {
    pub(crate) kind: DependencyKind,
    pub(crate) waiter: Span,
    pub(crate) prerequisite: Span,
    /// The index of a placeholder among the block's dependencies of this kind. The placeholder
    /// keeps the place of the dependency until its labels are resolved.
    pub(crate) at: u32,
}

/// The dependencies of a block in the order of the text. `places` has their positions in the text,
/// if positions are kept.
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

/// An `init` or `expect` statement.
#[derive(Debug, Clone)]
pub(crate) struct Declared {
    pub(crate) place: Span,
    pub(crate) expect: bool,
    pub(crate) datum: Datum,
}

/// One rank block, or one file of bare statements.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// The actions of the block. The dependencies are here too if the block defines all of their
    /// labels. `debug.actions` is always filled.
    pub(crate) body: Body,
    /// The dependencies by kind, if some of their labels must be looked up in other blocks.
    pub(crate) unresolved: Option<Box<[Dependencies; 2]>>,
    /// The position in the source map at which the block's head ends. `end` is the position at
    /// which the block ends.
    pub(crate) start: Position,
    pub(crate) end: Position,
    pub(crate) pending: Vec<Pending>,
    pub(crate) data: Vec<Declared>,
    /// The actions with relative peers, ascending. Their peers are 0 until ranks are made.
    pub(crate) relatives: Vec<(ActionId, RelativePeer)>,
    /// The largest rank that a message names.
    pub(crate) peer_max: Option<u32>,
    /// The first byte past the scratch memory that the block's buffers use.
    pub(crate) scratch_end: u64,
    /// True if an action waits for itself or for a later one, so that there may be a cycle.
    pub(crate) backward: bool,
    /// True if two actions have one label.
    pub(crate) has_duplicates: bool,
}

impl Block {
    /// Number of completion dependencies.
    pub(crate) fn num_requires(&self) -> usize {
        self.body.requires.len() + self.unresolved.as_ref().map_or(0, |kinds| kinds[0].edges.len())
    }

    /// Returns true if the block adds nothing to a graph.
    pub(crate) fn is_without_graph(&self) -> bool {
        self.body.is_empty() && self.pending.is_empty() && self.body.scratch == 0
    }
}

/// A rank in the list of a block's head.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member {
    pub(crate) rank: u32,
    pub(crate) place: Position,
    pub(crate) block: u32,
}

/// The parsed form of a part of a text that begins and ends outside of rank blocks.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    pub(crate) blocks: Vec<Block>,
    pub(crate) members: Vec<Member>,
    /// The indices of the blocks of `rank *`.
    pub(crate) every: Vec<u32>,
    /// The number and place of every `num_ranks`.
    pub(crate) declared: Vec<(u32, Span)>,
    /// True for a file of bare statements.
    pub(crate) bare: bool,
    /// True if the last token of the part ends a block.
    pub(crate) ends_with_block: bool,
    /// The number of places that the grammar refused.
    pub(crate) syntax_errors: u32,
    /// True if the parser gave up after too many syntax errors.
    pub(crate) gave_up: bool,
}
