//! MPI's definition of each collective: the places of the inputs, and what the outputs must hold.

mod checks;

use crate::options::{Blocks, Collective};
use goal_lang::{BlockList, CollectiveKind, Datatype, Function, Neighbors, Op, Program};
use std::fmt;

/// The reason why a program can't be compared with a collective.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unfit {
    #[error("there is no rank {root} among {ranks} that could be the root")]
    Root { root: u32, ranks: u32 },
    #[error("an operation of {} {kind} has to be associative, which {} is not", .kind.article(), .op.name())]
    Operation { kind: CollectiveKind, op: Op },
    #[error("{}{} is not defined", .0.name(), .1.name())]
    Illegal(Op, Datatype),
    #[error("of no elements nothing can be proved")]
    Nothing,
    #[error("{article} {0} has no such blocks of different sizes", article = .0.article())]
    Blocks(CollectiveKind),
    #[error("blocks of {given} ranks are given, and there are {ranks}")]
    BlocksOfRanks { given: usize, ranks: u32 },
    #[error("rank {from} sends {sent} elements to rank {to}, which is to get {received}")]
    Pair { from: usize, to: usize, sent: u64, received: u64 },
    #[error("the neighbours of {given} ranks are given, and there are {ranks}")]
    Neighbors { given: usize, ranks: u32 },
    #[error("rank {source_rank} and rank {destination} do not have as many edges to each other")]
    Edges { source_rank: u32, destination: u32 },
    #[error("the buffers end past 2^64 bytes")]
    Size,
    #[error(
        "the program touches no memory from the output's address {0} on: the number of elements has to be given"
    )]
    Count(u64),
}

/// A range of memory and its required content at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) addr: u64,
    pub(super) size: u64,
    pub(super) content: Content,
    /// The offset in the ranks' inputs of the bytes that belong at `addr`.
    pub(super) input_offset: u64,
}

/// The required content of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// A rank's input.
    Of(u32),
    /// The combination of the inputs of the ranks from 0 to this one.
    Combined(u32),
}

/// A collective on the ranks of a program, with all sizes determined.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    pub(super) collective: Collective,
    pub(super) ranks: u32,
    /// The size of a block in bytes.
    block: u64,
}

impl Layout {
    pub(super) fn new(collective: Collective, program: &Program) -> Result<Self, Unfit> {
        let ranks = program.num_ranks();
        if collective.kind.has_root() && collective.root >= ranks {
            return Err(Unfit::Root { root: collective.root, ranks });
        }
        if collective.kind.combines()
            && let Function::Predefined(op, datatype) = collective.function
        {
            if matches!(op, Op::Copy | Op::Sub | Op::Div) {
                return Err(Unfit::Operation { kind: collective.kind, op });
            }
            if !goal_lang::is_legal(op, datatype) {
                return Err(Unfit::Illegal(op, datatype));
            }
        }
        let mut layout = Self { collective, ranks, block: 0 };
        if layout.collective.kind.has_neighbors() {
            layout = layout.with_edges()?;
        }
        if layout.collective.blocks != Blocks::Equal {
            return layout.with_blocks();
        }
        let collective = &layout.collective;
        let block = match collective.count {
            Some(count) => count.checked_mul(collective.datatype.width()).ok_or(Unfit::Size)?,
            None if collective.kind == CollectiveKind::Barrier => 0,
            None => layout.fitting(program).ok_or(Unfit::Count(collective.output))?,
        };
        if block == 0 && collective.kind != CollectiveKind::Barrier {
            return Err(Unfit::Nothing);
        }
        let start = collective.output.max(collective.input.unwrap_or(0));
        let blocks = (0..if collective.kind.has_neighbors() { ranks } else { 0 })
            .map(|rank| layout.input_blocks(rank).max(layout.output_blocks(rank)))
            .fold(u64::from(ranks.max(1)), u64::max);
        let end = block.checked_mul(blocks).and_then(|size| size.checked_add(start));
        end.map(|_| Self { block, ..layout }).ok_or(Unfit::Size)
    }

    /// The neighbours of a rank.
    fn neighbors(&self, rank: u32) -> Neighbors {
        match &self.collective.neighbors {
            Some(all) => all[rank as usize].clone(),
            None => Neighbors::ring(rank, self.ranks),
        }
    }

    /// Returns the sources of a rank among its neighbours, each with the number of the block that
    /// the source sends to it.
    fn edges_to(&self, rank: u32) -> Vec<(u32, u32)> {
        let sources = self.neighbors(rank).sources;
        let edge = |(at, &source): (usize, &u32)| {
            if self.collective.kind == CollectiveKind::NeighborAllgather {
                return (source, 0);
            }
            let before = sources[..at].iter().filter(|&&other| other == source).count();
            let destinations = self.neighbors(source).destinations;
            let mut blocks = (0..).zip(destinations.iter()).filter(|(_, other)| **other == rank);
            (source, blocks.nth(before).expect("both ends know the edge").0)
        };
        sources.iter().enumerate().map(edge).collect()
    }

    /// The bytes of an element.
    fn width(&self) -> u64 {
        self.collective.datatype.width()
    }

    /// Returns the blocks in the input of a rank; `None` if all blocks are equal.
    fn sent(&self, rank: u32) -> Option<&BlockList> {
        match &self.collective.blocks {
            Blocks::Equal => None,
            Blocks::Each(list) => Some(list),
            Blocks::Pairs(pairs) => {
                // In an alltoall in place, the input has the blocks of the output.
                let is_received = self.collective.input.is_none()
                    && self.collective.kind == CollectiveKind::Alltoall;
                Some(&pairs[rank as usize][usize::from(is_received)])
            }
        }
    }

    /// The offset and the size in bytes of the block of `other` in the input of a rank.
    fn block_in(&self, rank: u32, other: u32) -> (u64, u64) {
        self.span(self.sent(rank), other)
    }

    /// The offset and the size in bytes of the block of `other` in the output of a rank.
    fn block_out(&self, rank: u32, other: u32) -> (u64, u64) {
        match &self.collective.blocks {
            Blocks::Pairs(pairs) => self.span(Some(&pairs[rank as usize][1]), other),
            _ => self.span(self.sent(rank), other),
        }
    }

    fn span(&self, list: Option<&BlockList>, other: u32) -> (u64, u64) {
        let Some(list) = list else { return (u64::from(other) * self.block, self.block) };
        let (at, width) = (other as usize, self.width());
        (list.displacements()[at] * width, list.counts()[at] * width)
    }

    /// Returns the size in bytes of the largest block that fits at every rank; `None` if no element
    /// fits.
    fn fitting(&self, program: &Program) -> Option<u64> {
        let (width, output) = (self.collective.datatype.width(), self.collective.output);
        let mut block = u64::MAX;
        for rank in 0..self.ranks {
            let end = program.memory_size(rank);
            let mut bound = |start: u64, limit: u64, blocks: u64| {
                block = block.min(limit.saturating_sub(start) / (blocks.max(1) * width) * width);
            };
            let (inputs, outputs) = (self.input_blocks(rank), self.output_blocks(rank));
            if outputs > 0 {
                let limit = self.collective.input.filter(|&input| input > output).unwrap_or(end);
                bound(output, limit, outputs);
            }
            if let Some(input) = self.collective.input
                && inputs > 0
            {
                bound(input, if input < output && outputs > 0 { output } else { end }, inputs);
            }
        }
        (block > 0 && block < u64::MAX).then_some(block)
    }

    /// The number of elements of a block, if all are equal.
    pub(super) fn block_elements(&self) -> u64 {
        self.block / self.width()
    }

    fn is_root(&self, rank: u32) -> bool {
        rank == self.collective.root
    }

    /// The number of blocks of a rank's input.
    fn input_blocks(&self, rank: u32) -> u64 {
        use CollectiveKind as Kind;
        let all = u64::from(self.ranks);
        match self.collective.kind {
            Kind::Scatter => {
                if self.is_root(rank) {
                    all
                } else {
                    0
                }
            }
            Kind::Alltoall | Kind::ReduceScatter => all,
            Kind::NeighborAlltoall => self.neighbors(rank).destinations.len() as u64,
            Kind::Barrier => 0,
            _ => 1,
        }
    }

    /// The number of blocks of a rank's output.
    fn output_blocks(&self, rank: u32) -> u64 {
        use CollectiveKind as Kind;
        let all = u64::from(self.ranks);
        match self.collective.kind {
            Kind::Reduce => u64::from(self.is_root(rank)),
            Kind::Gather => {
                if self.is_root(rank) {
                    all
                } else {
                    0
                }
            }
            Kind::Allgather | Kind::Alltoall => all,
            Kind::NeighborAllgather | Kind::NeighborAlltoall => {
                self.neighbors(rank).sources.len() as u64
            }
            Kind::Exscan => u64::from(rank > 0),
            Kind::Barrier => 0,
            _ => 1,
        }
    }

    /// The address and the size of a rank's input.
    pub(super) fn input(&self, rank: u32) -> (u64, u64) {
        use CollectiveKind as Kind;
        let output = self.collective.output;
        let (own, own_size) = match self.collective.kind.has_neighbors() {
            true => (0, 0),
            false => self.block_in(rank, rank),
        };
        let addr = match (self.collective.input, self.collective.kind) {
            (Some(input), _) => input,
            // In place, a rank's own block has its position in the output.
            (None, Kind::Allgather) => output + own,
            (None, Kind::Gather) if self.is_root(rank) => output + own,
            (None, _) => output,
        };
        let size = match (self.input_blocks(rank), self.sent(rank)) {
            (0, _) => 0,
            (_, Some(_)) if matches!(self.collective.kind, Kind::Gather | Kind::Allgather) => {
                own_size
            }
            (_, Some(list)) => list.end().unwrap_or(0) * self.width(),
            (blocks, None) => blocks * self.block,
        };
        (addr, size)
    }

    /// Calls `visit` with the required ranges of a rank, by ascending addresses.
    pub(super) fn visit_outputs(&self, rank: u32, mut visit: impl FnMut(Wanted)) {
        use CollectiveKind as Kind;
        let addr = self.collective.output;
        if self.collective.kind.has_neighbors() {
            let place = |(at, (source, number))| {
                let (at, size) = self.block_out(rank, at);
                let input_offset = self.block_in(source, number).0;
                Wanted { addr: addr + at, size, content: Content::Of(source), input_offset }
            };
            let all = (0..).zip(self.edges_to(rank)).map(place).collect();
            return visit_ascending(all, visit);
        }
        let (own, size) = self.block_in(rank, rank);
        let mut one = |content, input_offset| {
            if size > 0 {
                visit(Wanted { addr, size, content, input_offset });
            }
        };
        let last = self.ranks.saturating_sub(1);
        match self.collective.kind {
            _ if self.output_blocks(rank) == 0 => {}
            Kind::Bcast => one(Content::Of(self.collective.root), 0),
            // In place, the root's own block stays where it is.
            Kind::Scatter if self.is_root(rank) && self.collective.input.is_none() => {
                let content = Content::Of(rank);
                if size > 0 {
                    visit(Wanted { addr: addr + own, size, content, input_offset: own });
                }
            }
            Kind::Scatter => one(Content::Of(self.collective.root), own),
            Kind::Reduce | Kind::Allreduce => one(Content::Combined(last), 0),
            Kind::ReduceScatter => one(Content::Combined(last), own),
            Kind::Scan => one(Content::Combined(rank), 0),
            Kind::Exscan => one(Content::Combined(rank - 1), 0),
            Kind::Gather | Kind::Allgather | Kind::Alltoall => {
                let all = (0..self.ranks)
                    .map(|source| {
                        let (at, size) = self.block_out(rank, source);
                        let input_offset = match self.collective.kind {
                            Kind::Alltoall => self.block_in(source, rank).0,
                            _ => 0,
                        };
                        Wanted { addr: addr + at, size, content: Content::Of(source), input_offset }
                    })
                    .collect();
                visit_ascending(all, visit);
            }
            Kind::Barrier | Kind::NeighborAllgather | Kind::NeighborAlltoall => {}
        }
    }
}

/// Calls `visit` with ranges by ascending addresses, without empty ones.
fn visit_ascending(mut all: Vec<Wanted>, visit: impl FnMut(Wanted)) {
    all.retain(|wanted| wanted.size > 0);
    all.sort_by_key(|wanted| wanted.addr);
    all.into_iter().for_each(visit);
}

/// Writes, for example, "bcast of 1 Int32 at 0 from rank 0, 8 ranks".
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Collective { kind, root, function, datatype, input, output, .. } = self.collective;
        f.write_str(kind.name())?;
        if kind != CollectiveKind::Barrier {
            if kind.combines() {
                match function {
                    Function::Predefined(op, _) => write!(f, " ({})", op.name())?,
                    Function::User(number) => write!(f, " (user {number})")?,
                }
            }
            let (elements, sizes) = match &self.collective.blocks {
                Blocks::Equal => (self.block_elements(), ""),
                Blocks::Each(list) => (list.total(), " in blocks of their own sizes"),
                Blocks::Pairs(pairs) => {
                    let received = pairs.iter().map(|[_, recv]| recv.total());
                    (received.fold(0, u64::saturating_add), " in blocks of their own sizes")
                }
            };
            write!(f, " of {elements} {}{sizes} ", datatype.name())?;
            match input {
                Some(input) => write!(f, "from {input} to {output}")?,
                None => write!(f, "at {output}")?,
            }
            match kind {
                CollectiveKind::Bcast | CollectiveKind::Scatter => write!(f, " from rank {root}")?,
                CollectiveKind::Reduce | CollectiveKind::Gather => write!(f, " to rank {root}")?,
                _ => {}
            }
        }
        let plural = if self.ranks == 1 { "" } else { "s" };
        write!(f, ", {} rank{plural}", self.ranks)
    }
}
