//! The collective that a program is generated for.

use goal_lang::limits::TAG_MAX;
use goal_lang::{CollectiveKind, Datatype, Function, Op, is_legal};

/// The most ranks of a collective. Sums of three of them have 32 bits.
const RANKS_MAX: u32 = 1 << 30;

/// A collective on buffers that lie at the same addresses at every rank, with the number of blocks
/// and their places as MPI defines them (version 4, chapter 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// The collective.
    pub kind: CollectiveKind,
    /// The number of ranks.
    pub ranks: u32,
    /// The root, for collectives that have one.
    pub root: u32,
    /// The elements of a block: of a rank's input, or of its part for each rank.
    pub count: u64,
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
}

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
    #[error("an operation of a {kind} has to be associative, which {} is not", .op.name())]
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
        /// The bytes of the larger one.
        bytes: u64,
    },
    /// The degree is 0.
    #[error("a degree is at least 1")]
    Degree,
    /// The lowest tag is above the largest one.
    #[error("tag {0} is above {TAG_MAX}, the largest one")]
    Tag(u32),
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
            datatype,
            function: Function::Predefined(Op::Sum, datatype),
            input: None,
            output: 0,
            segment: 0,
            degree: 2,
            tag: 0,
        }
    }

    /// Returns the bytes of a block.
    pub(crate) fn block(&self) -> u64 {
        if self.kind == CollectiveKind::Barrier { 0 } else { self.count * self.datatype.width() }
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
        let Self { kind, ranks, root, .. } = *self;
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

    fn check_buffers(&self) -> Result<(), RequestError> {
        let block = self.count.checked_mul(self.datatype.width()).ok_or(RequestError::Size)?;
        // Offsets in scratch memory stay below 2^64 as well: all blocks once a round, and some.
        let all = block.checked_mul(u64::from(self.ranks)).ok_or(RequestError::Size)?;
        all.checked_mul(64).ok_or(RequestError::Size)?;
        let (from, to) = (self.blocks_in() * block, self.blocks_out() * block);
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
