//! The predefined operations of `exec` on a rank's memory: `C = A op B`, element by element.
//!
//! Elements are little-endian and need no alignment. There is one generic loop for each form of
//! aliasing. It is compiled for every operation and type, so the compiler vectorises each on its
//! own. There is no unsafe code here.
//!
//! Integers wrap, also in MIN / -1. `max` and `min` of a number and a NaN are the number, and -0 is
//! less than +0 (IEEE 754-2019 maximumNumber, minimumNumber). Float16 is computed as Float32 and
//! rounded once, which is the exact result rounded. A NaN that an operation computes is always the
//! positive quiet one without payload, so that results are the same bits on every machine; `copy`
//! keeps every bit. Logical operations treat every element except zero as true, also NaN, and give
//! 1 or 0.

mod each;
mod element;
mod float;
mod half;
mod scattered;
#[cfg(test)]
mod tests;

pub(crate) use scattered::apply_scattered;

use crate::memory::Span;
use each::{Operands, each, numbers, try_each};
use element::Integer;
use goal_lang::{Datatype, Op};
use std::hint::black_box;

/// An integer was divided by zero. The elements before it are computed and stored. The others are
/// unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("element {element} is divided by zero")]
pub(crate) struct DivisionByZero {
    /// Index of the first element with a zero divisor.
    pub(crate) element: u64,
}

/// Computes `C = A op B` for each element of consecutive buffers. `C` may be `A`, `B` or both.
/// `copy` is `B = A` and doesn't look at `C`.
///
/// # Errors
/// The first element that divides an integer by zero.
///
/// # Panics
/// If the operation is not defined on the type, the buffers are not equally many whole elements, or
/// the result overlaps an operand partly. The verifier lets no such schedule pass.
pub(crate) fn apply(
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
    Operands::of_spans(a, b, c, |operands| compute(op, datatype, operands))
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
    b.write(|b| compute(op, datatype, Operands::IntoB { a, b }))
}

fn copy(from: Span, to: Span) {
    if !from.is_same(to) {
        from.read_into(to, |from, to| to.copy_from_slice(from));
    }
}

fn compute(op: Op, datatype: Datatype, operands: Operands<'_>) -> Result<(), DivisionByZero> {
    match datatype {
        Datatype::Int8 => return integers::<i8>(op, operands),
        Datatype::Int16 => return integers::<i16>(op, operands),
        Datatype::Int32 => return integers::<i32>(op, operands),
        Datatype::Int64 => return integers::<i64>(op, operands),
        Datatype::UInt8 => return integers::<u8>(op, operands),
        Datatype::UInt16 => return integers::<u16>(op, operands),
        Datatype::UInt32 => return integers::<u32>(op, operands),
        Datatype::UInt64 => return integers::<u64>(op, operands),
        Datatype::Float16 => half::halves(op, operands),
        Datatype::Float32 => numbers::<f32>(op, operands),
        Datatype::Float64 => numbers::<f64>(op, operands),
        Datatype::Float8 => panic!("Float8 has no operations"),
    }
    Ok(())
}

fn integers<T: Integer>(op: Op, operands: Operands<'_>) -> Result<(), DivisionByZero> {
    match op {
        Op::Band => each(operands, T::band),
        Op::Bor => each(operands, T::bor),
        Op::Bxor => each(operands, T::bxor),
        Op::Div => return divide::<T>(operands),
        _ => numbers::<T>(op, operands),
    }
    Ok(())
}

/// Divides element by element. The operands may lie in memory that others write at the same time,
/// so a divisor is read only once: the value that is tested for zero is the value that divides.
fn divide<T: Integer>(operands: Operands<'_>) -> Result<(), DivisionByZero> {
    let divided = try_each(operands, |a: T, b| {
        // The compiler must not read the divisor again.
        let b = black_box(b);
        b.is_true().then(|| a.div(b))
    });
    divided.map_err(|element| DivisionByZero { element: element as u64 })
}
