//! The reasons why a request can't be met.

use goal_lang::limits::TAG_MAX;
use goal_lang::{CollectiveKind, Datatype, Op};

/// The most ranks of a collective. The sum of three such numbers still fits into 32 bits.
pub(super) const RANKS_MAX: u32 = 1 << 30;

/// The reason why a request can't be met.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// There are no ranks.
    #[error("a collective has at least one rank")]
    NoRanks,
    /// There are more ranks than the generators count.
    #[error("{0} ranks are more than {RANKS_MAX}, the most that programs are generated for")]
    TooManyRanks(u32),
    /// The root is no rank.
    #[error("there is no rank {root} among {ranks} that could be the root")]
    Root {
        /// The root.
        root: u32,
        /// The number of ranks.
        ranks: u32,
    },
    /// The operation is not associative.
    #[error("an operation of {} {kind} has to be associative, which {} is not", .kind.article(), .op.name())]
    NotAssociative {
        /// The collective.
        kind: CollectiveKind,
        /// The operation.
        op: Op,
    },
    /// The operation is not defined for the type.
    #[error("{} is not defined for {}", .0.name(), .1.name())]
    Illegal(Op, Datatype),
    /// The buffers end past 2^64 bytes.
    #[error("the buffers end past 2^64 bytes")]
    Size,
    /// Input and output share some bytes.
    #[error(
        "the input at {input} and the output at {output} overlap, {bytes} bytes each at most: leave the input out for a collective in place"
    )]
    Overlap {
        /// The address of the input.
        input: u64,
        /// The address of the output.
        output: u64,
        /// The size in bytes of the larger buffer.
        bytes: u64,
    },
    /// The collective has no blocks of this form.
    #[error("{0} has no blocks of different sizes of this form")]
    Blocks(CollectiveKind),
    /// There are not as many blocks as ranks.
    #[error("{blocks} blocks are given, and there are {ranks} ranks: give one for each")]
    BlocksOfRanks {
        /// The number of blocks.
        blocks: usize,
        /// The number of ranks.
        ranks: u32,
    },
    /// A neighbour is no rank.
    #[error("there is no rank {neighbor} among {ranks} that could be a neighbour")]
    Neighbor {
        /// The neighbour.
        neighbor: u32,
        /// The number of ranks.
        ranks: u32,
    },
    /// There are not as many blocks as neighbours.
    #[error("{blocks} blocks are given, and there are {neighbors} neighbours: give one for each")]
    BlocksOfNeighbors {
        /// The number of blocks.
        blocks: usize,
        /// The number of neighbours.
        neighbors: usize,
    },
    /// Two blocks that ranks receive lie on each other.
    #[error("blocks {} and {} overlap in the output", .0[0], .0[1])]
    BlocksOverlap([usize; 2]),
    /// The rank sends another number of elements to itself than it receives from itself.
    #[error("rank {rank} sends {send} elements to itself and receives {recv}")]
    OwnBlock {
        /// The rank.
        rank: u32,
        /// The elements that it sends.
        send: u64,
        /// The elements that it receives.
        recv: u64,
    },
    /// The rank has to know the blocks of all ranks.
    #[error("rank {0} has to know the blocks of all ranks")]
    OthersBlocks(u32),
    /// The nodes and the collective have different numbers of ranks.
    #[error("the nodes of {given} ranks are given, and there are {ranks}")]
    Nodes {
        /// The ranks of the nodes.
        given: u32,
        /// The number of ranks.
        ranks: u32,
    },
    /// The degree is 0.
    #[error("a degree is at least 1")]
    Degree,
    /// The lowest tag is above the largest one.
    #[error("tag {0} is above {TAG_MAX}, the largest one")]
    Tag(u32),
}
