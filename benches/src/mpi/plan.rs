//! The number of times that an operation is performed in a run, the same on both sides.

use super::Operation;

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

impl Plan {
    /// Returns the plan for an operation of `bytes` bytes. A run takes some milliseconds.
    pub(crate) fn new(operation: Operation, ranks: u32, bytes: u64) -> Self {
        let blocks = match operation {
            Operation::Alltoall | Operation::Allgather | Operation::Gather => u64::from(ranks),
            Operation::Halo => 6,
            _ => 1,
        };
        let times = (100_000_000 / (bytes * blocks + 20_000)).clamp(20, 4_000) as u32;
        if operation == Operation::Replay {
            return Self { rounds: 6, warm: 1, times: 1 };
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

    /// Returns the case as the programs in C take it. `in_a_row` is the number of times that the
    /// operation is performed without a barrier between, if it is.
    pub(crate) fn case(&self, bytes: u64, in_a_row: Option<u32>) -> String {
        let Self { rounds, warm, times } = self;
        format!("{bytes}:{rounds}:{warm}:{times}:{}", in_a_row.unwrap_or(0))
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
