//! The least time that an operation takes on this machine, from what two processors do without any
//! library. `benches/README.md` says how each limit is made.

use super::Operation;
use super::schedules::ROWS;

/// Returns the sizes of blocks that the limits of an operation of `bytes` bytes are made of.
pub(crate) fn sizes(operation: Operation, bytes: u64) -> Vec<u64> {
    match operation {
        Operation::Halo => vec![bytes, 2 * bytes],
        Operation::Allreduce => vec![bytes, half(bytes)],
        _ => vec![bytes],
    }
}

fn half(bytes: u64) -> u64 {
    (bytes / 2).next_multiple_of(4)
}

/// Returns the limit of an operation between 2 ranks in nanoseconds. `work` returns the time of a
/// work on a block, if it was measured.
pub(crate) fn limit(
    operation: &str,
    bytes: u64,
    work: impl Fn(&str, u64) -> Option<f64>,
) -> Option<f64> {
    let operation = Operation::ALL.into_iter().find(|of| of.name() == operation)?;
    let (whole, half) = (bytes, half(bytes));
    let line = work("line", whole)?;
    // The tiniest blocks travel with the line.
    let of = |name: &str, bytes: u64| work(name, bytes).map(|ns| ns.max(0.0));
    let message = || Some(line + of("pull", whole)?.min(of("halves", whole)? - line).max(0.0));
    Some(match operation {
        Operation::Barrier => line,
        Operation::Pingpong => message()?,
        // The other rank is free once its operand is copied elsewhere, or with the receiver.
        Operation::Bcast => message()?.min((message()? + of("local", whole)?) / 2.0),
        Operation::Gather => {
            let local = of("local", whole)?;
            message()?.max(local).min((message()? + 2.0 * local) / 2.0)
        }
        // The other rank is free as in a gather.
        Operation::Reduce => {
            let (root, local) = (line + of("reduce", whole)?, of("local", whole)?);
            root.min((root + local) / 2.0)
        }
        // The root copies its own block.
        Operation::Scatter => {
            let local = of("local", whole)?;
            message()?.max(local).min((message()? + 2.0 * local) / 2.0)
        }
        Operation::Allreduce => {
            let parts = 2.0 * line + of("reduce", half)? + of("both", half)?;
            parts.min(line + of("reduce", whole)?)
        }
        Operation::Allgather | Operation::Alltoall => {
            line + of("both", whole)? + of("local", whole)?
        }
        Operation::Exchange | Operation::ExchangeAgain => {
            line + of("add", whole)? + of("both", whole)?
        }
        Operation::Mix | Operation::MixWorld | Operation::Replay => return None,
        Operation::Halo => line + ROWS as f64 * of("sum", whole)? + of("both", 2 * whole)?,
    })
}
