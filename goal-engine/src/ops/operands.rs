//! The operands of an operation, by the form of aliasing.

use super::DivisionByZero;
use super::kernels::Kernels;
use crate::memory::Span;
use goal_lang::{Datatype, Op};

/// The bytes of an operation's operands, all of the same length, by the form of aliasing with the
/// result.
pub(super) enum Operands<'a> {
    /// Three buffers, of which A and B may be one.
    Distinct { a: &'a [u8], b: &'a [u8], c: &'a mut [u8] },
    /// The result replaces A.
    IntoA { a: &'a mut [u8], b: &'a [u8] },
    /// The result replaces B.
    IntoB { a: &'a [u8], b: &'a mut [u8] },
    /// All are the same buffer.
    Same(&'a mut [u8]),
}

impl Operands<'_> {
    /// Calls `compute` with three spans of a rank's memory.
    ///
    /// # Panics
    /// If the result overlaps an operand partly.
    #[inline(always)]
    pub(super) fn of_spans<R>(
        a: Span,
        b: Span,
        c: Span,
        compute: impl FnOnce(Operands<'_>) -> R,
    ) -> R {
        match (a.is_same(c), b.is_same(c)) {
            (true, true) => c.write(|c| compute(Operands::Same(c))),
            (true, false) => b.read_into(c, |b, a| compute(Operands::IntoA { a, b })),
            (false, true) => a.read_into(c, |a, b| compute(Operands::IntoB { a, b })),
            (false, false) => {
                assert!(a.is_disjoint(c), "the result overlaps an operand partly");
                a.read(|a| b.read_into(c, |b, c| compute(Operands::Distinct { a, b, c })))
            }
        }
    }

    /// Computes `a op b` for each element.
    ///
    /// # Errors
    /// The first element that divides an integer by zero.
    #[inline(always)]
    pub(super) fn compute(
        self,
        kernels: &Kernels,
        op: Op,
        datatype: Datatype,
    ) -> Result<(), DivisionByZero> {
        match self {
            Operands::Distinct { a, b, c } => kernels.three(op, datatype, a, b, c),
            Operands::IntoA { a, b } => kernels.two_reversed(op, datatype, b, a),
            Operands::IntoB { a, b } => kernels.two(op, datatype, a, b),
            Operands::Same(all) => same(kernels, op, datatype, all),
        }
    }
}

/// Computes `a op a` in place, a block at a time, from a copy of the block.
#[inline(never)]
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
