//! The operations as Rust types, so that each loop is compiled for one operation.

use super::element::{Element, Integer};
use std::marker::PhantomData;

/// An operation on two elements.
pub(super) trait Operator<T> {
    /// True if [`Operator::usual`] is faster than [`Operator::apply`].
    const HAS_USUAL: bool = false;

    fn apply(a: T, b: T) -> T;

    /// [`Operator::apply`] of two values that are not NaN.
    #[inline(always)]
    fn usual(a: T, b: T) -> T {
        Self::apply(a, b)
    }
}

macro_rules! operators {
    ($($name:ident, $element:ident, |$a:ident, $b:ident| $result:expr;)*) => {$(
        pub(super) struct $name;

        impl<T: $element> Operator<T> for $name {
            #[inline(always)]
            fn apply($a: T, $b: T) -> T {
                $result
            }
        }
    )*};
}

operators! {
    Sum, Element, |a, b| a.sum(b);
    Sub, Element, |a, b| a.sub(b);
    Prod, Element, |a, b| a.prod(b);
    Div, Element, |a, b| a.div(b);
    Land, Element, |a, b| T::truth(a.is_true() & b.is_true());
    Lor, Element, |a, b| T::truth(a.is_true() | b.is_true());
    Lxor, Element, |a, b| T::truth(a.is_true() ^ b.is_true());
    Band, Integer, |a, b| a.band(b);
    Bor, Integer, |a, b| a.bor(b);
    Bxor, Integer, |a, b| a.bxor(b);
}

pub(super) struct Max;

impl<T: Element> Operator<T> for Max {
    const HAS_USUAL: bool = T::HAS_NAN;

    #[inline(always)]
    fn apply(a: T, b: T) -> T {
        a.max(b)
    }

    #[inline(always)]
    fn usual(a: T, b: T) -> T {
        a.max_number(b)
    }
}

pub(super) struct Min;

impl<T: Element> Operator<T> for Min {
    const HAS_USUAL: bool = T::HAS_NAN;

    #[inline(always)]
    fn apply(a: T, b: T) -> T {
        a.min(b)
    }

    #[inline(always)]
    fn usual(a: T, b: T) -> T {
        a.min_number(b)
    }
}

/// The operation `O` with its operands exchanged.
pub(super) struct Reversed<O>(PhantomData<O>);

impl<T, O: Operator<T>> Operator<T> for Reversed<O> {
    #[inline(always)]
    fn apply(a: T, b: T) -> T {
        O::apply(b, a)
    }
}
