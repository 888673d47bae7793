//! An algorithm as an entry of the table.

use crate::rank::Rank;
use crate::request::{Request, RequestError};
use goal_lang::{Body, CollectiveKind, Program, ProgramBuilder};
use std::fmt;

/// The most segments of a block.
const SEGMENTS_MAX: u64 = 1 << 24;

/// The numbers of ranks for which an algorithm is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranks {
    /// Every number.
    Any,
    /// Even numbers, and one rank.
    Even,
    /// Powers of two.
    PowerOfTwo,
    /// Powers of two, or any number if the operation is idempotent.
    PowerOfTwoOrIdempotent,
    /// Powers of the degree plus one, or any number if the operation is idempotent.
    PowerOfDegreeOrIdempotent,
}

impl Ranks {
    /// The name in lists.
    pub const fn name(self) -> &'static str {
        match self {
            Ranks::Any => "any",
            Ranks::Even => "even",
            Ranks::PowerOfTwo => "power-of-two",
            Ranks::PowerOfTwoOrIdempotent => "power-of-two-or-idempotent",
            Ranks::PowerOfDegreeOrIdempotent => "power-of-degree-plus-one-or-idempotent",
        }
    }

    fn allow(self, request: &Request) -> bool {
        let ranks = request.ranks;
        match self {
            Ranks::Any => true,
            Ranks::Even => ranks == 1 || ranks.is_multiple_of(2),
            Ranks::PowerOfTwo => ranks.is_power_of_two(),
            Ranks::PowerOfTwoOrIdempotent => ranks.is_power_of_two() || request.is_idempotent(),
            Ranks::PowerOfDegreeOrIdempotent => {
                let base = u64::from(request.degree) + 1;
                let mut power = 1;
                while power < u64::from(ranks) {
                    power *= base;
                }
                power == u64::from(ranks) || request.is_idempotent()
            }
        }
    }
}

/// The operations for which an algorithm is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operations {
    /// The collective combines nothing.
    None,
    /// Every associative operation.
    Associative,
    /// Operations that commute.
    Commutative,
}

impl Operations {
    /// The name in lists.
    pub const fn name(self) -> &'static str {
        match self {
            Operations::None => "none",
            Operations::Associative => "associative",
            Operations::Commutative => "commutative",
        }
    }
}

/// A way to perform a collective.
pub struct Algorithm {
    /// The collective.
    pub kind: CollectiveKind,
    /// The name among the algorithms of this collective.
    pub name: &'static str,
    /// One sentence about it.
    pub about: &'static str,
    /// The publication or the implementation that describes it.
    pub source: &'static str,
    /// The numbers of ranks for which it is right.
    pub ranks: Ranks,
    /// The operations for which it is right.
    pub operations: Operations,
    /// True if it heeds [`Request::segment`].
    pub has_segments: bool,
    /// True if it heeds [`Request::degree`].
    pub has_degree: bool,
    pub(crate) generate: fn(&mut Rank<'_>),
}

/// The reason why an algorithm generates nothing for a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GenerateError {
    /// No algorithm could.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The request is for another collective.
    #[error("{algorithm} is an algorithm of {own}, not of {wanted}")]
    Kind {
        /// The algorithm.
        algorithm: &'static str,
        /// Its collective.
        own: CollectiveKind,
        /// The one that is asked for.
        wanted: CollectiveKind,
    },
    /// The algorithm is not right for this number of ranks.
    #[error("{algorithm} takes {}, not {ranks}", numbers(*.allowed, *.degree))]
    Ranks {
        /// The algorithm.
        algorithm: &'static str,
        /// The numbers that it takes.
        allowed: Ranks,
        /// The degree.
        degree: u32,
        /// The number of ranks.
        ranks: u32,
    },
    /// The algorithm combines inputs in another order than that of ranks.
    #[error("{algorithm} takes an operation that commutes, and a user function need not")]
    Order {
        /// The algorithm.
        algorithm: &'static str,
    },
    /// A block would have too many segments.
    #[error("{algorithm} would cut a block into {segments} segments: take larger ones")]
    Segments {
        /// The algorithm.
        algorithm: &'static str,
        /// The number of segments.
        segments: u64,
    },
    /// Two ranks would exchange more messages than there are tags.
    #[error("{algorithm} needs more tags than there are: take larger segments")]
    Tags {
        /// The algorithm.
        algorithm: &'static str,
    },
}

const IDEMPOTENT: &str = "(or any number for max, min, band, bor, land and lor)";

fn numbers(allowed: Ranks, degree: u32) -> String {
    match allowed {
        Ranks::Any => "any number of ranks".to_owned(),
        Ranks::Even => "an even number of ranks".to_owned(),
        Ranks::PowerOfTwo => "1, 2, 4, 8 ... ranks".to_owned(),
        Ranks::PowerOfTwoOrIdempotent => format!("1, 2, 4, 8 ... ranks {IDEMPOTENT}"),
        Ranks::PowerOfDegreeOrIdempotent => {
            let base = u128::from(degree) + 1;
            format!("1, {base}, {} ... ranks {IDEMPOTENT}", base * base)
        }
    }
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
        if !self.ranks.allow(request) {
            let (degree, ranks) = (request.degree, request.ranks);
            return Err(GenerateError::Ranks { algorithm, allowed: self.ranks, degree, ranks });
        }
        if self.operations == Operations::Commutative && !request.commutes() {
            return Err(GenerateError::Order { algorithm });
        }
        let segments = request.block().checked_div(request.segment).unwrap_or(0);
        if self.has_segments && segments > SEGMENTS_MAX {
            return Err(GenerateError::Segments { algorithm, segments });
        }
        Ok(())
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
        assert!(rank < request.ranks, "there is no rank {rank}");
        let mut graph = Rank::new(request, rank);
        (self.generate)(&mut graph);
        graph.finish().ok_or(GenerateError::Tags { algorithm: self.name })
    }

    /// Generates the graphs of all ranks.
    ///
    /// # Errors
    /// The algorithm can't meet the request.
    pub fn program(&self, request: &Request) -> Result<Program, GenerateError> {
        self.check(request)?;
        let mut program = ProgramBuilder::default();
        for rank in 0..request.ranks {
            program.rank_with(self.body(request, rank)?);
        }
        Ok(program.finish())
    }
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.name)
    }
}
