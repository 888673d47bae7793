//! The ranks of a LogGOPSim binary as they lie in the file.

use goal_asm::loggopsim::{OperationKind, RankRecords, Ranks};
use goal_lang::Placement;
use goal_loggops::{Actions, Kind, Record, Source, TooLarge, Workload, WorkloadBuilder};

/// A LogGOPSim binary that was checked.
pub(crate) struct Binary<'a>(pub(crate) Ranks<'a>);

impl Binary<'_> {
    /// Lists the actions of all ranks of a file with `size` bytes.
    pub(crate) fn workload(&self, size: usize) -> Result<Workload, TooLarge> {
        // An operation has 39 bytes, and each dependency 4.
        let mut builder = WorkloadBuilder::with_capacity(size / 39, 0);
        for rank in 0..self.0.num_ranks() {
            builder.begin_rank();
            let actions = self.rank(rank);
            for (position, record) in actions.records() {
                let waiters = actions.waiters(position);
                builder.push(record, waiters, actions.start_waiters(position));
            }
            actions.roots().for_each(|root| builder.push_root(root));
        }
        builder.finish()
    }
}

impl Source for Binary<'_> {
    type Rank<'s>
        = BinaryRank<'s>
    where
        Self: 's;

    #[inline]
    fn num_ranks(&self) -> u32 {
        self.0.num_ranks()
    }

    #[inline]
    fn rank(&self, rank: u32) -> BinaryRank<'_> {
        BinaryRank(self.0.rank(rank))
    }
}

/// A rank of a LogGOPSim binary.
#[derive(Clone, Copy)]
pub(crate) struct BinaryRank<'a>(RankRecords<'a>);

impl Actions for BinaryRank<'_> {
    #[inline]
    fn count(self) -> u32 {
        self.0.len() as u32
    }

    #[inline]
    fn record(self, position: u32) -> Record {
        let operation = self.0.operation(position as usize);
        let kind = match operation.kind {
            OperationKind::Send => Kind::Send,
            OperationKind::Recv => Kind::Recv,
            OperationKind::Calc => Kind::Calc,
            OperationKind::Marker | OperationKind::Collective => Kind::Dummy,
        };
        let has_peer = !matches!(operation.kind, OperationKind::Calc | OperationKind::Collective);
        let (peer, tag) = if has_peer { (operation.peer, operation.tag) } else { (0, 0) };
        let placement =
            if kind == Kind::Dummy { Placement::default() } else { operation.placement };
        Record::of(kind, operation.size, (peer, tag), operation.missing, placement)
    }

    #[inline]
    fn missing(self, position: u32) -> u32 {
        self.0.missing(position as usize)
    }

    #[inline]
    fn waiters(self, position: u32) -> impl Iterator<Item = u32> {
        self.0.waiters(position as usize)
    }

    #[inline]
    fn start_waiters(self, position: u32) -> impl Iterator<Item = u32> {
        self.0.start_waiters(position as usize)
    }

    #[inline]
    fn roots(self) -> impl Iterator<Item = u32> {
        self.0.roots()
    }
}
