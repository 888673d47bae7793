//! The collectives by name.

use std::fmt;

/// The collectives of MPI (version 4, chapter 6) that programs are generated for and compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CollectiveKind {
    /// Every rank ends with the root's input.
    Bcast,
    /// The root ends with the combination of all inputs.
    Reduce,
    /// Every rank ends with the combination of all inputs.
    Allreduce,
    /// The root ends with the inputs of all ranks, in the order of ranks.
    Gather,
    /// Every rank ends with the inputs of all ranks, in the order of ranks.
    Allgather,
    /// Every rank ends with its block of the root's input.
    Scatter,
    /// Block r of every rank's input ends at rank r, in the order of ranks.
    Alltoall,
    /// Block r of the combination of all inputs ends at rank r.
    ReduceScatter,
    /// Rank r ends with the combination of the inputs of ranks 0 to r.
    Scan,
    /// Rank r ends with the combination of the inputs of the ranks before it; rank 0 with anything.
    Exscan,
    /// No rank ends before every rank has started.
    Barrier,
}

impl CollectiveKind {
    /// Every collective.
    pub const ALL: [CollectiveKind; 11] = [
        CollectiveKind::Bcast,
        CollectiveKind::Reduce,
        CollectiveKind::Allreduce,
        CollectiveKind::Gather,
        CollectiveKind::Allgather,
        CollectiveKind::Scatter,
        CollectiveKind::Alltoall,
        CollectiveKind::ReduceScatter,
        CollectiveKind::Scan,
        CollectiveKind::Exscan,
        CollectiveKind::Barrier,
    ];

    /// The name in reports and on command lines.
    pub const fn name(self) -> &'static str {
        match self {
            CollectiveKind::Bcast => "bcast",
            CollectiveKind::Reduce => "reduce",
            CollectiveKind::Allreduce => "allreduce",
            CollectiveKind::Gather => "gather",
            CollectiveKind::Allgather => "allgather",
            CollectiveKind::Scatter => "scatter",
            CollectiveKind::Alltoall => "alltoall",
            CollectiveKind::ReduceScatter => "reduce-scatter",
            CollectiveKind::Scan => "scan",
            CollectiveKind::Exscan => "exscan",
            CollectiveKind::Barrier => "barrier",
        }
    }

    /// Returns true if an operation combines the inputs.
    pub const fn combines(self) -> bool {
        use CollectiveKind as Kind;
        matches!(
            self,
            Kind::Reduce | Kind::Allreduce | Kind::ReduceScatter | Kind::Scan | Kind::Exscan
        )
    }

    /// Returns true if one rank, the root, has a part of its own.
    pub const fn has_root(self) -> bool {
        use CollectiveKind as Kind;
        matches!(self, Kind::Bcast | Kind::Reduce | Kind::Gather | Kind::Scatter)
    }
}

impl fmt::Display for CollectiveKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
