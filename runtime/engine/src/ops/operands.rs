//! Applies an operation `C = A op B` to operands that may be the same bytes.

use super::kernels::Kernels;
use super::loops::DivisionByZero;
use crate::memory::Span;
use goal_lang::{Datatype, Op};

/// Computes `C = A op B` for each element, where C may be A, B, both or neither.
///
/// # Errors
/// The first element that divides an integer by zero.
///
/// # Panics
/// If the result overlaps an operand partly.
// Not inlined, so that the usual case, in which C is B alone, stays short.
#[inline(never)]
pub(super) fn apply_aliased(
    kernels: &Kernels,
    op: Op,
    datatype: Datatype,
    [a, b, c]: [Span; 3],
) -> Result<(), DivisionByZero> {
    match (a.is_same(c), b.is_same(c)) {
        (true, true) => c.write(|c| same(kernels, op, datatype, c)),
        (true, false) => b.read_into(c, |b, a| kernels.two_reversed(op, datatype, b, a)),
        (false, true) => a.read_into(c, |a, b| kernels.two(op, datatype, a, b)),
        (false, false) => {
            assert!(a.is_disjoint(c), "the result overlaps an operand partly");
            a.read(|a| b.read_into(c, |b, c| kernels.three(op, datatype, a, b, c)))
        }
    }
}

/// Computes `a op a` in place, a block at a time, from a copy of the block.
fn same(
    kernels: &Kernels,
    op: Op,
    datatype: Datatype,
    all: &mut [u8],
) -> Result<(), DivisionByZero> {
    const BLOCK: usize = 1 << 10;
    let mut copy = [0; BLOCK];
    for (index, block) in all.chunks_mut(BLOCK).enumerate() {
        let a = &mut copy[..block.len()];
        a.copy_from_slice(block);
        kernels.two(op, datatype, a, block).map_err(|DivisionByZero { element }| {
            let before = (index * BLOCK) as u64 / datatype.width();
            DivisionByZero { element: before + element }
        })?;
    }
    Ok(())
}
