//! An algorithm as an entry of the table.

use crate::error::GenerateError;
use crate::levels::Levels;
use crate::rank::{Find, Rank};
use crate::request::{Blocks, Request, RequestError};
use crate::rules::{Counts, Operations, Ranks};
use goal_lang::{
    Body, BodyBuilder, CollectiveKind, Program, ProgramBuilder, Relation, SymmetricProgram,
};
use std::fmt;

/// The most segments of a block.
const SEGMENTS_MAX: u64 = 1 << 24;

/// The most blocks that the leader of a node copies one by one. A section of NISA, which has 32-bit
/// offsets, holds few more.
const LEADER_COPIES_MAX: u64 = 1 << 26;

/// A way to perform a collective.
pub struct Algorithm {
    /// The collective.
    pub kind: CollectiveKind,
    /// The name among the algorithms of this collective.
    pub name: &'static str,
    /// One sentence about the algorithm.
    pub about: &'static str,
    /// The publication or the implementation that describes the algorithm.
    pub source: &'static str,
    /// The numbers of ranks for which the algorithm is right.
    pub ranks: Ranks,
    /// The operations for which the algorithm is right.
    pub operations: Operations,
    /// The numbers of elements that blocks may have.
    pub counts: Counts,
    /// True if the algorithm uses [`Request::segment`].
    pub has_segments: bool,
    /// True if the algorithm uses [`Request::degree`].
    pub has_degree: bool,
    /// True if the algorithm has one round. No send waits for a receive, even through other
    /// actions, so no message of a rank depends on another one. The messages of a rank, and which
    /// of them send the same bytes, do not depend on the ranks that work in place. False for
    /// collectives of neighbours, in which a rank knows its own messages only.
    pub has_one_round: bool,
    /// The relation of the peers of all ranks, if ranks differ in their peers only. Xors need a
    /// power of two of ranks and an operation that commutes. `None` for other algorithms.
    pub relation: Option<Relation>,
    /// The levels of an algorithm of two levels; `None` for others.
    pub(crate) levels: Option<TwoLevels>,
    pub(crate) generate: fn(&mut Rank<'_>),
}

/// The levels of an algorithm of two levels, and the functions that find the algorithms of these
/// levels by name.
#[derive(Clone, Copy)]
pub(crate) struct TwoLevels {
    pub(crate) levels: Levels,
    pub(crate) algorithm: fn(CollectiveKind, &str) -> Option<&'static Algorithm>,
    pub(crate) find: Find,
}

impl Algorithm {
    /// Checks that the algorithm can meet the request.
    ///
    /// # Errors
    /// The reason why it can't.
    pub fn check(&self, request: &Request) -> Result<(), GenerateError> {
        request.check()?;
        let algorithm = self.name;
        if self.kind != request.kind {
            let (own, wanted) = (self.kind, request.kind);
            return Err(GenerateError::Kind { algorithm, own, wanted });
        }
        self.check_group(request, request.ranks, &request.blocks)?;
        if let Some(TwoLevels { levels, algorithm, .. }) = &self.levels {
            levels.check(self.kind, request, |kind, name, ranks, blocks| {
                let found = algorithm(kind, name).filter(|found| found.levels.is_none());
                let unknown = || GenerateError::Level { name: name.to_owned(), kind };
                found.ok_or_else(unknown)?.check_group(request, ranks, blocks)
            })?;
            if self.kind == CollectiveKind::Alltoall && !request.is_empty() {
                self.check_leader(request)?;
            }
        }
        let segments = request.block_max().checked_div(request.segment).unwrap_or(0);
        if self.has_segments && segments > SEGMENTS_MAX {
            return Err(GenerateError::Segments { algorithm, segments });
        }
        Ok(())
    }

    /// Checks that the leader of a node can address the blocks of the node's ranks, and has not too
    /// many blocks to copy.
    fn check_leader(&self, request: &Request) -> Result<(), GenerateError> {
        let sizes = request.nodes.as_ref().map_or(&[][..], |nodes| nodes.sizes());
        let per_node = u64::from(sizes.last().copied().unwrap_or(request.ranks));
        let copies = per_node * u64::from(request.ranks);
        // Four buffers, with some room for the offsets behind them.
        request
            .block()
            .checked_mul(8)
            .and_then(|bytes| bytes.checked_mul(copies))
            .ok_or(GenerateError::Request(RequestError::Size))?;
        if copies > LEADER_COPIES_MAX {
            let (algorithm, most) = (self.name, LEADER_COPIES_MAX);
            return Err(GenerateError::Copies { algorithm, per_node, copies, most });
        }
        Ok(())
    }

    /// Checks that the algorithm is right for a number of ranks, for the operation, and for the
    /// form of the blocks.
    fn check_group(
        &self,
        request: &Request,
        ranks: u32,
        blocks: &Blocks,
    ) -> Result<(), GenerateError> {
        let algorithm = self.name;
        if !self.ranks.allow(request, ranks) {
            let degree = request.degree;
            return Err(GenerateError::Ranks { algorithm, allowed: self.ranks, degree, ranks });
        }
        if self.operations == Operations::Commutative && !request.commutes() {
            return Err(GenerateError::Order { algorithm });
        }
        if self.counts == Counts::Equal && *blocks != Blocks::Equal {
            return Err(GenerateError::Counts { algorithm, kind: self.kind });
        }
        Ok(())
    }

    /// Returns true if the algorithm has two levels, and so uses [`Request::nodes`].
    pub fn has_levels(&self) -> bool {
        self.levels.is_some()
    }

    /// Generates the graph of a rank.
    ///
    /// # Errors
    /// The algorithm can't meet the request.
    ///
    /// # Panics
    /// If `rank` is not below [`Request::ranks`].
    pub fn body(&self, request: &Request, rank: u32) -> Result<Body, GenerateError> {
        self.check(request)?;
        self.checked_body(request, rank)
    }

    /// Generates the graph of a rank like [`body`](Self::body), for a request that
    /// [`check`](Self::check) has accepted. The check takes time that grows with the blocks of all
    /// ranks. A request that is the same for all ranks needs it only once.
    ///
    /// # Errors
    /// The rank can't meet the request.
    ///
    /// # Panics
    /// If `rank` is not below [`Request::ranks`].
    pub fn checked_body(&self, request: &Request, rank: u32) -> Result<Body, GenerateError> {
        assert!(rank < request.ranks, "there is no rank {rank}");
        request.check_rank(rank, self.counts == Counts::Own)?;
        if request.is_empty() {
            return Ok(BodyBuilder::default().finish());
        }
        let mut graph = Rank::new(request, rank, self.levels.map(|levels| levels.find));
        (self.generate)(&mut graph);
        graph.finish().ok_or(GenerateError::Tags { algorithm: self.name })
    }

    /// Generates the graph of rank 0, if the graphs of all ranks follow from it.
    ///
    /// # Errors
    /// The algorithm can't meet the request, or ranks differ in more than their peers.
    pub fn symmetric(&self, request: &Request) -> Result<SymmetricProgram, GenerateError> {
        self.check(request)?;
        let has_relation = |relation: &Relation| {
            *relation == Relation::Shift
                || request.ranks.is_power_of_two() && (!self.kind.combines() || request.commutes())
        };
        let unlike =
            || GenerateError::Unlike { algorithm: self.name, needs_power: self.relation.is_some() };
        let relation = self.relation.filter(has_relation).ok_or_else(unlike)?;
        let body = self.checked_body(request, 0)?;
        Ok(SymmetricProgram { num_ranks: request.ranks, relation, body })
    }

    /// Generates the graphs of all ranks from one request, which is the same for all of them.
    ///
    /// # Errors
    /// The algorithm can't meet the request.
    pub fn program(&self, request: &Request) -> Result<Program, GenerateError> {
        self.check(request)?;
        let mut program = ProgramBuilder::default();
        for rank in 0..request.ranks {
            program.rank_with(self.checked_body(request, rank)?);
        }
        Ok(program.finish())
    }

    /// Generates the graphs of all ranks, each from its own request.
    ///
    /// # Errors
    /// The algorithm can't meet the request of a rank.
    pub fn program_of(
        &self,
        ranks: u32,
        request: impl Fn(u32) -> Request,
    ) -> Result<Program, GenerateError> {
        let mut program = ProgramBuilder::default();
        for rank in 0..ranks {
            program.rank_with(self.body(&request(rank), rank)?);
        }
        Ok(program.finish())
    }
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.name)
    }
}
