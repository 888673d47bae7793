//! The collective that a program is generated for.

mod error;

use crate::nodes::Nodes;
use error::RANKS_MAX;
use goal_lang::limits::TAG_MAX;
use goal_lang::{BlockList, CollectiveKind, Datatype, Function, Neighbors, Op, is_legal};
use std::sync::Arc;

pub use error::RequestError;

/// A collective on buffers that lie at the same addresses at every rank, with the number of blocks
/// and their places as MPI defines them (version 4, chapter 6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The collective.
    pub kind: CollectiveKind,
    /// The number of ranks.
    pub ranks: u32,
    /// The root, for collectives that have one.
    pub root: u32,
    /// The number of elements of a block. A block is the input of a rank, or the part of this input
    /// for one rank.
    pub count: u64,
    /// The blocks, if they have different numbers of elements or places of their own.
    pub blocks: Blocks,
    /// For collectives of neighbours: the neighbours of the rank that a graph is generated for.
    /// `None` stands for the neighbours in a ring of all ranks.
    pub neighbors: Option<Neighbors>,
    /// The type of the elements.
    pub datatype: Datatype,
    /// The operation, for collectives that combine inputs. A user function computes B = A f B; it
    /// is associative and need not commute.
    pub function: Function,
    /// The address of the input; `None` if it lies where the output will be (`MPI_IN_PLACE`).
    pub input: Option<u64>,
    /// The address of the output.
    pub output: u64,
    /// The bytes of a segment, for algorithms that cut blocks into segments; 0 for their default.
    pub segment: u64,
    /// The children of a node of a tree, or the messages of a round, for algorithms of a degree.
    pub degree: u32,
    /// The lowest tag of the messages.
    pub tag: u32,
    /// The nodes that ranks lie on, for algorithms of two levels; `None` for one node.
    pub nodes: Option<Arc<Nodes>>,
    /// For algorithms of two levels: the name of the algorithm within nodes; `None` for the
    /// default.
    pub inner: Option<&'static str>,
    /// For algorithms of two levels: the name of the algorithm among nodes; `None` for the default.
    pub outer: Option<&'static str>,
}

/// The blocks of a request, as far as they are known to the rank that a graph is generated for. A
/// block may have no elements. Sender and receiver must state the same number of elements.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Blocks {
    /// Every block has [`Request::count`] elements, and they lie one behind the other.
    #[default]
    Equal,
    /// The block of each rank, with its place in the buffer of all blocks. It is the rank's
    /// contribution to a gather or an allgather, or its part of the result of a scatter or a
    /// reduce-scatter.
    Each(BlockList),
    /// The number of elements of the rank's own block. Only a rank other than the root of a gather
    /// or a scatter may state it, for an algorithm that needs no other blocks
    /// ([`Counts::Own`](crate::Counts::Own)).
    Own(u64),
    /// For an alltoall: the block for each rank in the input, and the block from each rank in the
    /// output. In place, the block for a rank lies where the block from it will be, and `send` is
    /// not read.
    ///
    /// For a collective of neighbours: the blocks for each destination, and from each source. In an
    /// allgather of neighbours, `send` has one block, which goes to all destinations.
    Pairs {
        /// The blocks for each rank.
        send: BlockList,
        /// The blocks from each rank.
        recv: BlockList,
    },
}

impl Request {
    /// Returns a request for `ranks` ranks: one block of one element, a sum, in place at 0.
    pub fn new(kind: CollectiveKind, ranks: u32) -> Self {
        let datatype = if kind.combines() { Datatype::Int32 } else { Datatype::UInt8 };
        Self {
            kind,
            ranks,
            root: 0,
            count: 1,
            blocks: Blocks::Equal,
            neighbors: None,
            datatype,
            function: Function::Predefined(Op::Sum, datatype),
            input: None,
            output: 0,
            segment: 0,
            degree: 2,
            tag: 0,
            nodes: None,
            inner: None,
            outer: None,
        }
    }

    /// Returns the size of a block in bytes, by which a table of decisions chooses an algorithm. It
    /// is the mean if all ranks know all blocks, and 0 if ranks know different blocks.
    pub(crate) fn block(&self) -> u64 {
        let elements = match &self.blocks {
            _ if self.kind == CollectiveKind::Barrier => 0,
            Blocks::Equal => self.count,
            Blocks::Each(list) if !self.kind.has_root() => list.total() / u64::from(self.ranks),
            _ => 0,
        };
        elements * self.datatype.width()
    }

    /// Returns the bytes of the largest block that is known.
    pub(crate) fn block_max(&self) -> u64 {
        let elements = match &self.blocks {
            Blocks::Equal => return self.block(),
            Blocks::Each(list) | Blocks::Pairs { recv: list, .. } => {
                list.counts().iter().copied().max().unwrap_or(0)
            }
            Blocks::Own(count) => *count,
        };
        elements * self.datatype.width()
    }

    /// Returns true if no rank has a byte to move, and every rank knows that.
    pub(crate) fn is_empty(&self) -> bool {
        self.kind != CollectiveKind::Barrier && self.blocks == Blocks::Equal && self.count == 0
    }

    /// Returns true if the operation commutes.
    pub fn commutes(&self) -> bool {
        matches!(self.function, Function::Predefined(..))
    }

    /// Returns true if combining an input more than once changes nothing.
    pub fn is_idempotent(&self) -> bool {
        use Op::{Band, Bor, Land, Lor, Max, Min};
        matches!(self.function, Function::Predefined(Max | Min | Band | Bor | Land | Lor, _))
    }

    /// Checks the request.
    ///
    /// # Errors
    /// The reason why it can't be met.
    pub(crate) fn check(&self) -> Result<(), RequestError> {
        let &Self { kind, ranks, root, .. } = self;
        if ranks == 0 {
            return Err(RequestError::NoRanks);
        }
        if ranks > RANKS_MAX {
            return Err(RequestError::TooManyRanks(ranks));
        }
        if kind.has_root() && root >= ranks {
            return Err(RequestError::Root { root, ranks });
        }
        if self.degree == 0 {
            return Err(RequestError::Degree);
        }
        if let Some(nodes) = self.nodes.as_ref().filter(|nodes| nodes.ranks() != ranks) {
            return Err(RequestError::Nodes { given: nodes.ranks(), ranks });
        }
        if self.tag > TAG_MAX {
            return Err(RequestError::Tag(self.tag));
        }
        if kind.combines()
            && let Function::Predefined(op, datatype) = self.function
        {
            if matches!(op, Op::Copy | Op::Sub | Op::Div) {
                return Err(RequestError::NotAssociative { kind, op });
            }
            if !is_legal(op, datatype) {
                return Err(RequestError::Illegal(op, datatype));
            }
        }
        self.check_buffers()
    }

    /// Checks what depends on the rank that a graph is generated for.
    pub(crate) fn check_rank(&self, rank: u32, knows_own_only: bool) -> Result<(), RequestError> {
        match &self.blocks {
            Blocks::Own(_) if !knows_own_only || rank == self.root => {
                Err(RequestError::OthersBlocks(rank))
            }
            Blocks::Pairs { .. } if self.kind.has_neighbors() => self.check_own_edges(rank),
            Blocks::Pairs { send, recv } if self.input.is_some() => {
                let (send, recv) = (send.counts()[rank as usize], recv.counts()[rank as usize]);
                if send == recv {
                    return Ok(());
                }
                Err(RequestError::OwnBlock { rank, send, recv })
            }
            _ => Ok(()),
        }
    }

    /// Checks the blocks of a rank to itself: each has as many elements on both sides.
    fn check_own_edges(&self, rank: u32) -> Result<(), RequestError> {
        let (Blocks::Pairs { send, recv }, Some(neighbors)) = (&self.blocks, &self.neighbors)
        else {
            return Ok(());
        };
        let count = |list: &BlockList, at: usize| list.counts()[at.min(list.len() - 1)];
        let own =
            |all: &[u32]| -> Vec<usize> { (0..all.len()).filter(|&at| all[at] == rank).collect() };
        for (to, from) in own(&neighbors.destinations).into_iter().zip(own(&neighbors.sources)) {
            let (send, recv) = (count(send, to), count(recv, from));
            if send != recv {
                return Err(RequestError::OwnBlock { rank, send, recv });
            }
        }
        Ok(())
    }

    fn check_blocks(&self) -> Result<(), RequestError> {
        use CollectiveKind as Kind;
        let (kind, ranks) = (self.kind, self.ranks);
        if kind.has_neighbors() {
            return self.check_neighbors();
        }
        let lists: &[&BlockList] = match (&self.blocks, kind) {
            (Blocks::Equal, _) | (Blocks::Own(_), Kind::Gather | Kind::Scatter) => return Ok(()),
            (
                Blocks::Each(list),
                Kind::Gather | Kind::Scatter | Kind::Allgather | Kind::ReduceScatter,
            ) => &[list],
            (Blocks::Pairs { recv, .. }, Kind::Alltoall) if self.input.is_none() => &[recv],
            (Blocks::Pairs { send, recv }, Kind::Alltoall) => &[send, recv],
            _ => return Err(RequestError::Blocks(kind)),
        };
        for list in lists {
            if list.len() != ranks as usize {
                return Err(RequestError::BlocksOfRanks { blocks: list.len(), ranks });
            }
        }
        let received = lists
            .last()
            .filter(|_| matches!(kind, Kind::Gather | Kind::Allgather | Kind::Alltoall));
        match received.and_then(|list| list.overlapping()) {
            Some(overlapping) => Err(RequestError::BlocksOverlap(overlapping)),
            None => Ok(()),
        }
    }

    /// Checks the neighbours and their blocks.
    fn check_neighbors(&self) -> Result<(), RequestError> {
        let (kind, ranks) = (self.kind, self.ranks);
        let (mut sources, mut destinations) = (2, 2);
        if let Some(neighbors) = &self.neighbors {
            (sources, destinations) = (neighbors.sources.len(), neighbors.destinations.len());
            let mut all = neighbors.sources.iter().chain(&*neighbors.destinations);
            if let Some(&neighbor) = all.find(|&&neighbor| neighbor >= ranks) {
                return Err(RequestError::Neighbor { neighbor, ranks });
            }
        }
        let (send, recv) = match &self.blocks {
            Blocks::Equal => return Ok(()),
            Blocks::Pairs { send, recv } => (send, recv),
            _ => return Err(RequestError::Blocks(kind)),
        };
        let sent = if kind == CollectiveKind::NeighborAllgather { 1 } else { destinations };
        for (list, neighbors) in [(send, sent), (recv, sources)] {
            if list.len() != neighbors {
                return Err(RequestError::BlocksOfNeighbors { blocks: list.len(), neighbors });
            }
        }
        match recv.overlapping() {
            Some(overlapping) => Err(RequestError::BlocksOverlap(overlapping)),
            None => Ok(()),
        }
    }

    fn check_buffers(&self) -> Result<(), RequestError> {
        self.check_blocks()?;
        let (from, to, all) = self.extents().ok_or(RequestError::Size)?;
        // Offsets in scratch memory must stay below 2^64 too. It holds all blocks once for each
        // round, and some more.
        all.checked_mul(64).ok_or(RequestError::Size)?;
        let ends = |start: u64, bytes: u64| start.checked_add(bytes).ok_or(RequestError::Size);
        // In place, the output holds the input.
        ends(self.output, if self.input.is_none() { from.max(to) } else { to })?;
        let Some(input) = self.input else { return Ok(()) };
        ends(input, from)?;
        if input < self.output.saturating_add(to) && self.output < input.saturating_add(from) {
            let bytes = from.max(to);
            return Err(RequestError::Overlap { input, output: self.output, bytes });
        }
        Ok(())
    }

    /// Returns the most bytes of a rank's input and output, and of all blocks; `None` if these are
    /// 2^64 or more.
    fn extents(&self) -> Option<(u64, u64, u64)> {
        let (width, ranks) = (self.datatype.width(), u64::from(self.ranks));
        match &self.blocks {
            Blocks::Equal => {
                let block = self.count.checked_mul(width)?;
                if self.kind.has_neighbors() {
                    let neighbors = self.neighbors.as_ref();
                    let degrees =
                        neighbors.map_or((2, 2), |all| (all.destinations.len(), all.sources.len()));
                    let sent =
                        if self.kind == CollectiveKind::NeighborAllgather { 1 } else { degrees.0 };
                    let from = block.checked_mul(sent as u64)?;
                    let to = block.checked_mul(degrees.1 as u64)?;
                    return Some((from, to, from.checked_add(to)?));
                }
                let all = block.checked_mul(ranks)?;
                let bytes = |blocks| if blocks > 1 { all } else { blocks * block };
                Some((bytes(self.blocks_in()), bytes(self.blocks_out()), all))
            }
            Blocks::Own(count) => {
                let own = count.checked_mul(width)?;
                Some((own, own, own))
            }
            Blocks::Each(list) => {
                let all = list.end()?.max(list.total()).checked_mul(width)?;
                let own = list.counts().iter().copied().max().unwrap_or(0) * width;
                let bytes = |blocks| if blocks > 1 { all } else { own };
                Some((bytes(self.blocks_in()), bytes(self.blocks_out()), all))
            }
            Blocks::Pairs { send, recv } => {
                let bytes = |list: &BlockList| list.end()?.max(list.total()).checked_mul(width);
                let (send, recv) = (bytes(send)?, bytes(recv)?);
                Some((send, recv, send.checked_add(recv)?))
            }
        }
    }

    /// Returns the most blocks of a rank's input.
    fn blocks_in(&self) -> u64 {
        use CollectiveKind as Kind;
        match self.kind {
            Kind::Scatter | Kind::Alltoall | Kind::ReduceScatter => u64::from(self.ranks),
            Kind::Barrier => 0,
            _ => 1,
        }
    }

    /// Returns the most blocks of a rank's output.
    fn blocks_out(&self) -> u64 {
        use CollectiveKind as Kind;
        match self.kind {
            Kind::Gather | Kind::Allgather | Kind::Alltoall => u64::from(self.ranks),
            Kind::Barrier => 0,
            _ => 1,
        }
    }
}
