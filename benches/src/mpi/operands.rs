//! The values that ranks write before an operation and expect after it. `benches/c/operands.h`
//! has the same.

use super::Operation;
use super::schedules::ROWS;
use std::io;
use zerocopy::FromBytes;

/// The values of a block: 32-bit integers, `start + step * i`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) start: u32,
    pub(crate) step: u32,
}

/// Returns the values that one rank has for another in a round.
pub(crate) fn operand(from: u32, to: u32, round: u32) -> Line {
    let start = round
        .wrapping_mul(2_654_435_761)
        .wrapping_add(from.wrapping_mul(16_777_619))
        .wrapping_add(to.wrapping_mul(65_537));
    Line { start, step: 1 }
}

/// One rank's part in the operations of one size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operands {
    pub(crate) operation: Operation,
    pub(crate) rank: u32,
    pub(crate) ranks: u32,
    pub(crate) bytes: u64,
    /// The times that the operation is performed in a round.
    pub(crate) times: u32,
}

impl Operands {
    /// Writes the rank's operands into its memory.
    pub(crate) fn write(&self, memory: &mut [u8], round: u32) {
        let Self { operation, rank, ranks, bytes, .. } = *self;
        let mut write = |at: u64, line| write_block(block_mut(memory, at, bytes), line);
        match operation {
            Operation::Barrier | Operation::Mix | Operation::MixWorld | Operation::Replay => {}
            Operation::Bcast | Operation::Scatter if rank != 0 => {}
            Operation::Alltoall | Operation::Scatter => {
                (0..ranks).for_each(|to| write(u64::from(to) * bytes, operand(rank, to, round)));
            }
            Operation::Exchange | Operation::ExchangeAgain => {
                (0..2)
                    .for_each(|which| write(u64::from(which) * bytes, operand(rank, which, round)));
            }
            Operation::Halo => {
                let (above, below) = ((rank + ranks - 1) % ranks, (rank + 1) % ranks);
                write(0, operand(above, ROWS, round));
                (1..=ROWS).for_each(|row| write(u64::from(row) * bytes, operand(rank, row, round)));
                write(u64::from(ROWS + 1) * bytes, operand(below, 1, round));
            }
            _ => write(0, operand(rank, 0, round)),
        }
    }

    /// Reads the rank's results.
    ///
    /// # Errors
    /// They are not right.
    pub(crate) fn check(&self, memory: &[u8], round: u32) -> io::Result<()> {
        let Self { operation, bytes, .. } = *self;
        if self.are_right(memory, round) {
            return Ok(());
        }
        let name = operation.name();
        Err(io::Error::other(format!("wrong result of {name}, {bytes} bytes, in round {round}")))
    }

    /// Reads the rank's results. Returns true if they are right.
    fn are_right(&self, memory: &[u8], round: u32) -> bool {
        let Self { operation, rank, ranks, bytes, times } = *self;
        let result = operation.result(ranks, bytes);
        let holds = |at: u64, line| holds(block(memory, at, bytes), line);
        // The operands of all ranks for `to`, in the order of ranks.
        let gathered = |to: u32| {
            (0..ranks).all(|from| holds(result + u64::from(from) * bytes, operand(from, to, round)))
        };
        match operation {
            Operation::Barrier | Operation::Mix | Operation::MixWorld | Operation::Replay => true,
            Operation::Pingpong => holds(bytes, operand(rank ^ 1, 0, round)),
            Operation::Bcast => holds(0, operand(0, 0, round)),
            Operation::Reduce if rank != 0 => true,
            Operation::Reduce | Operation::Allreduce => {
                let sum = (0..ranks).map(|from| operand(from, 0, round)).reduce(sum);
                holds(result, sum.expect("there are ranks"))
            }
            Operation::Gather => rank != 0 || gathered(0),
            Operation::Scatter => holds(result, operand(0, rank, round)),
            Operation::Allgather => gathered(0),
            Operation::Alltoall => gathered(rank),
            Operation::Exchange | Operation::ExchangeAgain => {
                let [own, came] = exchanged(rank, round, times);
                holds(0, own) && holds(bytes, came)
            }
            Operation::Halo => {
                let grid = u64::from(times % 2) * u64::from(ROWS + 2) * bytes;
                let rows = computed(rank, ranks, round, times);
                (0u64..).zip(rows).all(|(row, line)| holds(grid + row * bytes, line))
            }
        }
    }
}

/// Returns the sums of two blocks' values.
pub(crate) fn sum(x: Line, y: Line) -> Line {
    Line { start: x.start.wrapping_add(y.start), step: x.step.wrapping_add(y.step) }
}

/// Returns the operand of a rank and the operand that it received last, after `times` steps of an
/// exchange.
fn exchanged(rank: u32, round: u32, times: u32) -> [Line; 2] {
    let mut own = [0, 1].map(|rank| operand(rank, 0, round));
    let mut came = [0, 1].map(|rank| operand(rank, 1, round));
    for _ in 0..times {
        own = [sum(own[0], came[0]), sum(own[1], came[1])];
        came = [own[1], own[0]];
    }
    [own[rank as usize], came[rank as usize]]
}

/// Returns the rows of a rank's part in a stencil after `times` steps, and its neighbours' rows
/// beside it.
fn computed(rank: u32, ranks: u32, round: u32, times: u32) -> Vec<Line> {
    let row = |row: u32| operand(row / ROWS, row % ROWS + 1, round);
    let mut rows: Vec<Line> = (0..ranks * ROWS).map(row).collect();
    let all = rows.len();
    for _ in 0..times {
        let next = |row: usize| sum(rows[(row + all - 1) % all], rows[(row + 1) % all]);
        rows = (0..all).map(next).collect();
    }
    let above = (rank * ROWS) as usize + all - 1;
    (0..ROWS as usize + 2).map(|row| rows[(above + row) % all]).collect()
}

/// Returns the integers of a block.
pub(crate) fn block(memory: &[u8], at: u64, bytes: u64) -> &[u32] {
    let block = &memory[at as usize..][..bytes as usize];
    <[u32]>::ref_from_bytes(block).expect("operands are whole, aligned integers")
}

/// Returns the integers of a block, for changes.
pub(crate) fn block_mut(memory: &mut [u8], at: u64, bytes: u64) -> &mut [u32] {
    let block = &mut memory[at as usize..][..bytes as usize];
    <[u32]>::mut_from_bytes(block).expect("operands are whole, aligned integers")
}

/// Writes the whole block.
#[inline(never)]
pub(crate) fn write_block(block: &mut [u32], Line { start, step }: Line) {
    for (i, value) in (0u32..).zip(block) {
        *value = start.wrapping_add(step.wrapping_mul(i));
    }
}

/// Reads the whole block, also behind a wrong value. Returns true if it holds the values.
#[inline(never)]
pub(crate) fn holds(block: &[u32], Line { start, step }: Line) -> bool {
    let mut wrong = 0;
    for (i, value) in (0u32..).zip(block) {
        wrong |= value ^ start.wrapping_add(step.wrapping_mul(i));
    }
    wrong == 0
}
