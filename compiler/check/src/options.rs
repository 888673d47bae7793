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
    /// The number of bytes of messages without a receive that a rank keeps at most.
    pub unexpected_limit: u64,
    /// The bound on the work of each check, as a multiple of the default.
    pub effort: u64,
    /// The collective that the program is meant to be.
    pub collective: Option<Collective>,
    /// The names of these options in notes and helps.
    pub names: OptionNames,
}

impl Default for Options {
    /// The limits of goal-run by default.
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

/// A collective that a program is meant to be, with its buffers.
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
    /// The blocks, if they have different numbers of elements or places of their own; `count` is
    /// not looked at then.
    pub blocks: Blocks,
    /// The neighbours of each rank, for collectives of neighbours; ranks behind the last one that
    /// is given have none. `None` for those in a ring.
    pub neighbors: Option<Arc<[Neighbors]>>,
    /// The address of every rank's input. `None` if the input lies in the output buffer, as with
    /// `MPI_IN_PLACE`.
    pub input: Option<u64>,
    /// The address of every rank's output.
    pub output: u64,
}

/// The blocks of a collective, as all ranks together know them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Blocks {
    /// Every block has as many elements, and they lie one behind the other.
    #[default]
    Equal,
    /// The block of each rank: what it contributes to a gather or an allgather, or gets of a
    /// scatter or a reduce-scatter. The places are those in the buffer of all blocks.
    Each(BlockList),
    /// By rank, of an alltoall: the blocks for each rank in its input, and from each rank in its
    /// output. In place, the blocks for others are those from them. Of a collective of neighbours:
    /// the blocks for each destination, or the only one in an allgather, and from each source.
    Pairs(Arc<[[BlockList; 2]]>),
}
