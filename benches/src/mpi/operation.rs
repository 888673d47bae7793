//! The operations that are measured.

use super::args::HALO_BYTES_MAX;

/// An operation that MPI has too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Operation {
    /// A message to and fro
    Pingpong,
    Barrier,
    Bcast,
    Reduce,
    Allreduce,
    Gather,
    Scatter,
    Allgather,
    Alltoall,
    /// 16 collectives of 8 B to 1 KiB and 5 kinds in random order, on 3 communicators
    Mix,
    /// 16 such collectives on one communicator
    MixWorld,
    /// Adds what came to the operand and exchanges the sum with the other rank, many times in one
    /// schedule
    Exchange,
    /// One such step in a schedule, which is started again and again
    ExchangeAgain,
    /// A stencil whose ranks exchange the borders of their parts in a ring, many steps in one
    /// schedule
    Halo,
    /// The messages of a program
    #[value(skip)]
    Replay,
}

impl Operation {
    pub(crate) const ALL: [Operation; 14] = [
        Operation::Pingpong,
        Operation::Barrier,
        Operation::Bcast,
        Operation::Reduce,
        Operation::Allreduce,
        Operation::Gather,
        Operation::Scatter,
        Operation::Allgather,
        Operation::Alltoall,
        Operation::Mix,
        Operation::MixWorld,
        Operation::Exchange,
        Operation::ExchangeAgain,
        Operation::Halo,
    ];

    /// Returns the name of the operation.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Operation::Pingpong => "pingpong",
            Operation::Barrier => "barrier",
            Operation::Bcast => "bcast",
            Operation::Reduce => "reduce",
            Operation::Allreduce => "allreduce",
            Operation::Gather => "gather",
            Operation::Scatter => "scatter",
            Operation::Allgather => "allgather",
            Operation::Alltoall => "alltoall",
            Operation::Mix => "mix",
            Operation::MixWorld => "mix-world",
            Operation::Exchange => "exchange",
            Operation::ExchangeAgain => "exchange-again",
            Operation::Halo => "halo",
            Operation::Replay => "replay",
        }
    }

    /// Returns the name of the operation in the peer's program.
    pub(crate) fn peer_name(self) -> &'static str {
        match self {
            Operation::ExchangeAgain => "exchange",
            _ => self.name(),
        }
    }

    /// Returns true if the operation is performed many times between two looks at the clock.
    pub(crate) fn is_repeated(self) -> bool {
        self.is_long() || self == Operation::ExchangeAgain
    }

    /// Returns true if one schedule performs the operation many times.
    pub(crate) fn is_long(self) -> bool {
        matches!(self, Operation::Exchange | Operation::Halo | Operation::Replay)
    }

    /// Returns true if a program in C performs the operation through libgoal.
    pub(crate) fn is_in_library(self) -> bool {
        match self {
            Operation::Pingpong
            | Operation::Barrier
            | Operation::Bcast
            | Operation::Reduce
            | Operation::Allreduce
            | Operation::Gather
            | Operation::Scatter
            | Operation::Allgather
            | Operation::Alltoall
            | Operation::Mix
            | Operation::MixWorld => true,
            Operation::Exchange
            | Operation::ExchangeAgain
            | Operation::Halo
            | Operation::Replay => false,
        }
    }

    /// Returns true if the operation is many calls of several kinds.
    pub(crate) fn is_mix(self) -> bool {
        matches!(self, Operation::Mix | Operation::MixWorld)
    }

    /// Returns true if the operation can have operands of this size in bytes. `element` is the size
    /// of a number that reductions add.
    pub(crate) fn fits(self, bytes: u64, element: u64) -> bool {
        match self {
            Operation::Reduce | Operation::Allreduce => bytes.is_multiple_of(element),
            Operation::Exchange | Operation::ExchangeAgain => bytes > 0 && bytes.is_multiple_of(4),
            Operation::Halo => bytes > 0 && bytes.is_multiple_of(4) && bytes <= HALO_BYTES_MAX,
            _ => true,
        }
    }

    /// Returns true if the operation adds numbers.
    pub(crate) fn is_reduction(self) -> bool {
        matches!(self, Operation::Reduce | Operation::Allreduce)
    }

    /// Returns true if `ranks` ranks can perform the operation.
    pub(crate) fn allows(self, ranks: u32) -> bool {
        let between_two =
            matches!(self, Operation::Pingpong | Operation::Exchange | Operation::ExchangeAgain);
        ranks == 2 || !between_two
    }
}
