//! The number of times that an operation is performed in a run, the same on both sides.

use super::Operation;
use super::manner::Manner;

/// The rounds of a run. In each, every rank writes its operands, all ranks meet, the operation is
/// performed, which is timed, and each rank reads its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) rounds: u32,
    /// The first rounds, which are not counted.
    pub(crate) warm: u32,
    /// The times that the operation is performed in a round.
    pub(crate) times: u32,
}

/// The nanoseconds of a run in which a rank is late on purpose.
const LATE_NS_MAX: u64 = 50_000_000;

impl Plan {
    /// Returns the plan for an operation of `bytes` bytes. A run takes some milliseconds.
    pub(crate) fn new(operation: Operation, ranks: u32, bytes: u64) -> Self {
        let blocks = match operation {
            Operation::Alltoall | Operation::Allgather | Operation::Gather | Operation::Scatter => {
                u64::from(ranks)
            }
            Operation::Halo => 6,
            _ => 1,
        };
        let times = (100_000_000 / (bytes * blocks + 20_000)).clamp(20, 4_000) as u32;
        if operation == Operation::Replay {
            return Self { rounds: 6, warm: 1, times: 1 };
        }
        if operation.is_mix() {
            return Self { rounds: 110, warm: 10, times: 100 };
        }
        match operation.is_repeated() {
            true => Self { rounds: 6, warm: 1, times },
            false => Self { rounds: times + times / 10 + 2, warm: times / 10 + 2, times: 1 },
        }
    }

    /// Returns the plan with at most `counted` counted rounds, and fewer before them.
    pub(crate) fn at_most(self, counted: u32) -> Self {
        let warm = self.warm.min(counted / 10 + 2);
        let counted = counted.min(self.rounds - self.warm);
        Self { rounds: warm + counted, warm, ..self }
    }

    /// Returns the plan in a manner. Rounds that wait for a rank are fewer.
    pub(crate) fn in_manner(self, manner: &Manner) -> Self {
        let Some(late_ns) = manner.late_ns else { return self };
        self.at_most((LATE_NS_MAX / late_ns.max(1)).clamp(20, u64::from(self.rounds)) as u32)
    }

    /// Returns the case as the programs in C take it.
    pub(crate) fn case(&self, bytes: u64) -> String {
        let Self { rounds, warm, times } = self;
        format!("{bytes}:{rounds}:{warm}:{times}")
    }
}

#[cfg(test)]
mod tests {
    use super::{Operation, Plan};

    #[test]
    fn fewer_rounds_on_request() {
        let plan = Plan::new(Operation::Barrier, 2, 0);
        assert_eq!(plan.at_most(u32::MAX), plan);
        assert_eq!(plan.at_most(100), Plan { rounds: 112, warm: 12, times: 1 });
        assert_eq!(plan.at_most(1), Plan { rounds: 3, warm: 2, times: 1 });
        // The schedule has as many steps as before.
        let plan = Plan::new(Operation::Exchange, 2, 8);
        assert_eq!(plan.at_most(2), Plan { rounds: 3, ..plan });
    }
}
