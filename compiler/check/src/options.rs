//! The options of the checks, and the collectives that a program can be compared with.

use goal_lang::limits::{EAGER_LIMIT, UNEXPECTED_LIMIT};
use goal_lang::{BlockList, CollectiveKind, Datatype, Function, Neighbors};
use std::sync::Arc;

/// The runtime that a program is checked for, and the bounds of the checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The largest message in bytes that a send hands over before its receive is posted. With 0 the
    /// checks decide if the program ends though every send waits for its receive.
    pub eager_limit: u64,
    /// The most bytes of messages that a rank keeps because they arrive before their receive is
    /// posted.
    pub unexpected_limit: u64,
    /// The bound on the work of each check, as a multiple of the default.
    pub effort: u64,
    /// The MPI collective that the program is compared with; `None` for no comparison.
    pub collective: Option<Collective>,
    /// The names of these options in notes and helps.
    pub names: OptionNames,
}

impl Default for Options {
    /// The default limits of goal-run, and no collective.
    fn default() -> Self {
        Self {
            eager_limit: EAGER_LIMIT,
            unexpected_limit: UNEXPECTED_LIMIT,
            effort: 1,
            collective: None,
            names: OptionNames::default(),
        }
    }
}

/// The names that findings use for options. By default these are the names of the fields of
/// [`Options`]; a command line replaces them by its flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionNames {
    /// The name of [`Options::eager_limit`].
    pub eager_limit: &'static str,
    /// The name of [`Options::unexpected_limit`].
    pub unexpected_limit: &'static str,
    /// The name of [`Options::effort`].
    pub effort: &'static str,
    /// The names of the parts of [`Options::collective`] that describe buffers and the root.
    pub buffers: &'static str,
    /// The names of all parts of [`Options::collective`].
    pub collective: &'static str,
}

impl Default for OptionNames {
    fn default() -> Self {
        Self {
            eager_limit: "eager_limit",
            unexpected_limit: "unexpected_limit",
            effort: "effort",
            buffers: "input, output, count, datatype and root",
            collective: "input, output, count, datatype, function and root",
        }
    }
}

/// A collective that a program is compared with, and its buffers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collective {
    /// The collective.
    pub kind: CollectiveKind,
    /// The root, for collectives that have one.
    pub root: u32,
    /// The operation, for collectives that combine inputs. A user function is assumed to be an
    /// associative B = A f B that does not change A; it need not commute.
    pub function: Function,
    /// The type of the elements.
    pub datatype: Datatype,
    /// The number of elements of a block. A block is a rank's input; in scatter, alltoall and
    /// reduce-scatter, the input consists of one block for each rank. `None` for as many elements
    /// as fit between the input, the output and the end of the memory that the program touches.
    pub count: Option<u64>,
    /// The sizes and places of the blocks. If they are not [`Blocks::Equal`], `count` is ignored.
    pub blocks: Blocks,
    /// By rank, its neighbours, for collectives of neighbours. Ranks past the end of the list have
    /// no neighbours. With `None`, the neighbours form a ring.
    pub neighbors: Option<Arc<[Neighbors]>>,
    /// The address of every rank's input. `None` if the input lies in the output buffer, as with
    /// `MPI_IN_PLACE`.
    pub input: Option<u64>,
    /// The address of every rank's output.
    pub output: u64,
}

/// The sizes and places of the blocks of a collective, for all ranks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Blocks {
    /// All blocks have the same number of elements and lie one after the other.
    #[default]
    Equal,
    /// By rank, the block that the rank contributes to a gather or an allgather, or gets from a
    /// scatter or a reduce-scatter. The places are offsets in the buffer of all blocks.
    Each(BlockList),
    /// By rank, the blocks in its input, and the blocks in its output:
    ///
    /// - of an alltoall, a block for each rank, and a block from each rank. In place, the input has
    ///   the blocks of the output.
    /// - of an alltoall of neighbours, a block for each destination, and a block from each source.
    /// - of an allgather of neighbours, one block for all destinations, and a block from each
    ///   source.
    Pairs(Arc<[[BlockList; 2]]>),
}
