//! The loops over elements. There are two forms, so that no loop tests which operands are the same:
//! the result replaces B, or lies in a third buffer. The compiler vectorises them for the
//! instruction set of the function that they are inlined into.

use super::element::{Element, Integer};
use super::operators::Operator;
use std::hint::black_box;

/// An integer was divided by zero. The elements before it are computed and stored. The others are
/// unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("element {element} is divided by zero")]
pub(crate) struct DivisionByZero {
    /// Index of the first element with a zero divisor.
    pub(crate) element: u64,
}

/// Stores `a op b` in B for each element.
#[inline(always)]
pub(super) fn two<T: Element, O: Operator<T>>(a: &[u8], b: &mut [u8]) {
    let (mut a, mut b) = (T::of(a), T::of_mut(b));
    if O::HAS_USUAL {
        let (a_blocks, b_blocks);
        (a_blocks, a) = a.as_chunks();
        (b_blocks, b) = b.as_chunks_mut();
        for (b, a) in b_blocks.iter_mut().zip(a_blocks) {
            *b = block::<T, O>(a, b);
        }
    }
    for (b, a) in b.iter_mut().zip(a) {
        *b = O::apply(T::load(*a), T::load(*b)).store();
    }
}

/// Stores `a op b` in C for each element.
#[inline(always)]
pub(super) fn three<T: Element, O: Operator<T>>(a: &[u8], b: &[u8], c: &mut [u8]) {
    let (mut a, mut b, mut c) = (T::of(a), T::of(b), T::of_mut(c));
    if O::HAS_USUAL {
        let (a_blocks, b_blocks, c_blocks);
        (a_blocks, a) = a.as_chunks();
        (b_blocks, b) = b.as_chunks();
        (c_blocks, c) = c.as_chunks_mut();
        for ((c, a), b) in c_blocks.iter_mut().zip(a_blocks).zip(b_blocks) {
            *c = block::<T, O>(a, b);
        }
    }
    for ((c, a), b) in c.iter_mut().zip(a).zip(b) {
        *c = O::apply(T::load(*a), T::load(*b)).store();
    }
}

/// The number of elements that are tested for NaN together: few enough to stay in registers.
const BLOCK: usize = 32;

/// Returns the results for a block: the usual ones, if it has no NaN.
#[inline(always)]
fn block<T: Element, O: Operator<T>>(
    a: &[T::Bytes; BLOCK],
    b: &[T::Bytes; BLOCK],
) -> [T::Bytes; BLOCK] {
    let mut result = *b;
    let mut has_nan = false;
    // Not `any`, which stops early and is therefore not vectorised.
    for (result, a) in result.iter_mut().zip(a) {
        let (a, b) = (T::load(*a), T::load(*result));
        has_nan |= a.is_nan() | b.is_nan();
        *result = O::usual(a, b).store();
    }
    if has_nan {
        result = *b;
        for (result, a) in result.iter_mut().zip(a) {
            *result = O::apply(T::load(*a), T::load(*result)).store();
        }
    }
    result
}

/// Returns the quotient, or `None` if the divisor is 0.
///
/// The divisor is read only once, because other ranks may write the operands at the same time. So
/// the value that is tested for zero is the value that divides.
#[inline(always)]
fn quotient<T: Integer>(dividend: T, divisor: T) -> Option<T> {
    // The compiler must not read the divisor again.
    let divisor = black_box(divisor);
    divisor.is_true().then(|| dividend.div(divisor))
}

fn by_zero(at: usize) -> DivisionByZero {
    DivisionByZero { element: at as u64 }
}

/// Stores `a / b` in B for each element up to the first zero divisor.
///
/// # Errors
/// The first element with a zero divisor. This element and those after it are unchanged.
pub(super) fn divide<T: Integer>(a: &[u8], b: &mut [u8]) -> Result<(), DivisionByZero> {
    for (at, (b, a)) in T::of_mut(b).iter_mut().zip(T::of(a)).enumerate() {
        *b = quotient(T::load(*a), T::load(*b)).ok_or(by_zero(at))?.store();
    }
    Ok(())
}

/// Stores `b / a` in B, as [`divide`] stores `a / b`.
///
/// # Errors
/// As [`divide`].
pub(super) fn divide_reversed<T: Integer>(a: &[u8], b: &mut [u8]) -> Result<(), DivisionByZero> {
    for (at, (b, a)) in T::of_mut(b).iter_mut().zip(T::of(a)).enumerate() {
        *b = quotient(T::load(*b), T::load(*a)).ok_or(by_zero(at))?.store();
    }
    Ok(())
}

/// Stores `a / b` in C, as [`divide`] does in B.
///
/// # Errors
/// As [`divide`].
pub(super) fn divide_three<T: Integer>(
    a: &[u8],
    b: &[u8],
    c: &mut [u8],
) -> Result<(), DivisionByZero> {
    for (at, ((c, a), b)) in T::of_mut(c).iter_mut().zip(T::of(a)).zip(T::of(b)).enumerate() {
        *c = quotient(T::load(*a), T::load(*b)).ok_or(by_zero(at))?.store();
    }
    Ok(())
}
