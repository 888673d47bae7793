//! The predefined operations of `exec` on a rank's memory: `C = A op B`, element by element.
//!
//! Elements are little-endian and need no alignment. There is one generic loop for each form of
//! aliasing. It is compiled for every operation, type and instruction set, so the compiler
//! vectorises each on its own. The fastest set of the processor is chosen at run time
//! ([`InstructionSet`]). A copy is the system library's `memcpy`, which chooses too.
//!
//! Results are stored through the caches. Non-temporal stores were measured and are slower: a copy
//! of 1 to 4 MiB takes 1.2 to 1.3 times as long. With one read of the result afterwards, it takes
//! 1.8 times as long. A prefetch ahead of the loop changes nothing, because the processor
//! prefetches by itself.
//!
//! Integers wrap, also in MIN / -1. `max` and `min` of a number and a NaN are the number, and -0 is
//! less than +0 (IEEE 754-2019 maximumNumber, minimumNumber). Float16 is computed as Float32 and
//! rounded once, which is the exact result rounded. A NaN that an operation computes is always the
//! positive quiet one without payload, so that results are the same bits on every machine; `copy`
//! keeps every bit. Logical operations treat every element except zero as true, also NaN, and give
//! 1 or 0.

mod element;
mod float;
mod half;
mod instructions;
mod kernels;
mod loops;
mod operands;
mod operators;
mod scattered;
#[cfg(test)]
mod tests;

pub use instructions::InstructionSet;
pub(crate) use loops::DivisionByZero;
pub(crate) use scattered::apply_scattered;

use crate::memory::{self, Span};
use goal_lang::{Datatype, Op};
use instructions::kernels;
use kernels::Kernels;
use operands::apply_aliased;

/// Computes `C = A op B` for each element of consecutive buffers. `C` may be `A`, `B` or both.
/// `copy` is `B = A` and doesn't look at `C`.
///
/// # Errors
/// The first element that divides an integer by zero.
///
/// # Panics
/// If the operation is not defined on the type, the buffers are not equally many whole elements, or
/// the result overlaps an operand partly. The verifier lets no such schedule pass.
#[inline]
pub(crate) fn apply(
    op: Op,
    datatype: Datatype,
    a: Span,
    b: Span,
    c: Span,
) -> Result<(), DivisionByZero> {
    apply_with(kernels(), op, datatype, a, b, c)
}

/// [`apply`] with the loops of one instruction set.
#[inline(always)]
fn apply_with(
    kernels: &Kernels,
    op: Op,
    datatype: Datatype,
    a: Span,
    b: Span,
    c: Span,
) -> Result<(), DivisionByZero> {
    if op == Op::Copy {
        copy(a, b);
        return Ok(());
    }
    let (size, width) = (a.len(), datatype.width() as usize);
    assert!(
        b.len() == size && c.len() == size && size & (width - 1) == 0,
        "operands of {:?} bytes of {}",
        [size, b.len(), c.len()],
        datatype.name()
    );
    if b.is_same(c) && !a.is_same(c) {
        return a.read_into(b, |a, b| kernels.two(op, datatype, a, b));
    }
    apply_aliased(kernels, op, datatype, [a, b, c])
}

/// Computes `B = A op B` for each element, where A lies outside of every region: in a message.
///
/// # Errors
/// The first element that divides an integer by zero.
///
/// # Panics
/// If the operation is not defined on the type, or the two are not equally many whole elements.
pub(crate) fn apply_bytes(
    op: Op,
    datatype: Datatype,
    a: &[u8],
    b: Span,
) -> Result<(), DivisionByZero> {
    let (size, width) = (a.len(), datatype.width() as usize);
    assert!(
        b.len() == size && size & (width - 1) == 0,
        "operands of {:?} bytes of {}",
        [size, b.len()],
        datatype.name()
    );
    b.write(|b| kernels().two(op, datatype, a, b))
}

/// Computes `C = message op B`, or `C = B op message` if `reversed`, for each element. C may be B.
/// The message lies outside of every region. The operation must be one that can't fail.
///
/// # Panics
/// If the operation is not defined on the type, the operands are not equally many whole elements,
/// or B and C overlap partly.
#[inline(always)]
pub(crate) fn fold(op: Op, datatype: Datatype, message: &[u8], b: Span, c: Span, reversed: bool) {
    let (size, width) = (message.len(), datatype.width() as usize);
    assert!(b.len() == size && c.len() == size && size & (width - 1) == 0, "{size} bytes");
    let kernels = kernels();
    let folded = match (b.is_same(c), reversed) {
        (true, false) => c.write(|c| kernels.two(op, datatype, message, c)),
        (true, true) => c.write(|c| kernels.two_reversed(op, datatype, message, c)),
        (false, false) => b.read_into(c, |b, c| kernels.three(op, datatype, message, b, c)),
        (false, true) => b.read_into(c, |b, c| kernels.three(op, datatype, b, message, c)),
    };
    debug_assert!(folded.is_ok(), "an operation that can fail");
}

/// Computes `B = A op B` for each element of buffers, for callers that hold operands of a schedule
/// outside of an engine.
///
/// # Errors
/// The index of the first element that divides an integer by zero.
///
/// # Panics
/// If the operation is not defined on the type, or the two are not equally many whole elements.
pub fn combine(op: Op, datatype: Datatype, a: &[u8], b: &mut [u8]) -> Result<(), u64> {
    let (size, width) = (a.len(), datatype.width() as usize);
    assert!(b.len() == size && size & (width - 1) == 0, "operands of {:?} bytes", [size, b.len()]);
    if op == Op::Copy {
        b.copy_from_slice(a);
        return Ok(());
    }
    kernels().two(op, datatype, a, b).map_err(|DivisionByZero { element }| element)
}

fn copy(from: Span, to: Span) {
    if !from.is_same(to) {
        from.read_into(to, |from, to| memory::copy(to, from));
    }
}
