//! The loops over elements: one for each form of aliasing, so that no loop has to test which
//! operands are the same.

use super::element::Element;
use crate::memory::Span;
use goal_lang::Op;

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

impl<'a> Operands<'a> {
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

    /// Calls `visit` with successive blocks of `bytes` bytes. The last one may be shorter.
    pub(super) fn blocks(self, bytes: usize, mut visit: impl FnMut(Operands<'_>)) {
        match self {
            Operands::Distinct { a, b, c } => {
                for ((c, a), b) in c.chunks_mut(bytes).zip(a.chunks(bytes)).zip(b.chunks(bytes)) {
                    visit(Operands::Distinct { a, b, c });
                }
            }
            Operands::IntoA { a, b } => {
                for (a, b) in a.chunks_mut(bytes).zip(b.chunks(bytes)) {
                    visit(Operands::IntoA { a, b });
                }
            }
            Operands::IntoB { a, b } => {
                for (b, a) in b.chunks_mut(bytes).zip(a.chunks(bytes)) {
                    visit(Operands::IntoB { a, b });
                }
            }
            Operands::Same(all) => {
                for all in all.chunks_mut(bytes) {
                    visit(Operands::Same(all));
                }
            }
        }
    }

    /// The bytes of A and of B.
    pub(super) fn inputs(&self) -> (&[u8], &[u8]) {
        match self {
            Operands::Distinct { a, b, .. } => (a, b),
            Operands::IntoA { a, b } => (a, b),
            Operands::IntoB { a, b } => (a, b),
            Operands::Same(all) => (all, all),
        }
    }

    /// The result's bytes.
    pub(super) fn result(self) -> &'a mut [u8] {
        match self {
            Operands::Distinct { c: result, .. }
            | Operands::IntoA { a: result, .. }
            | Operands::IntoB { b: result, .. }
            | Operands::Same(result) => result,
        }
    }
}

/// Stores the same result as [`each`] with `all`, in less time. `usual` must be faster and must
/// agree with `all` on elements that are not NaN; it is used for each block without a NaN.
pub(super) fn each_mostly<T: Element>(
    operands: Operands<'_>,
    usual: impl Fn(T, T) -> T + Copy,
    all: impl Fn(T, T) -> T + Copy,
) {
    /// The bytes of a block: three of them fit in a first-level cache.
    const BLOCK: usize = 4 << 10;
    operands.blocks(BLOCK, |block| {
        let (a, b) = block.inputs();
        let has_nan = |a: &T::Bytes, b: &T::Bytes| T::load(*a).is_nan() | T::load(*b).is_nan();
        let pairs = T::of(a).iter().zip(T::of(b));
        // Not `any`, which stops early and is therefore not vectorised.
        if pairs.fold(false, |found, (a, b)| found | has_nan(a, b)) {
            each(block, all);
        } else {
            each(block, usual);
        }
    });
}

/// Stores `f(a, b)` in the result for each element.
pub(super) fn each<T: Element>(operands: Operands<'_>, f: impl Fn(T, T) -> T) {
    match operands {
        Operands::Distinct { a, b, c } => {
            for ((c, a), b) in T::of_mut(c).iter_mut().zip(T::of(a)).zip(T::of(b)) {
                *c = f(T::load(*a), T::load(*b)).store();
            }
        }
        Operands::IntoA { a, b } => {
            for (a, b) in T::of_mut(a).iter_mut().zip(T::of(b)) {
                *a = f(T::load(*a), T::load(*b)).store();
            }
        }
        Operands::IntoB { a, b } => {
            for (b, a) in T::of_mut(b).iter_mut().zip(T::of(a)) {
                *b = f(T::load(*a), T::load(*b)).store();
            }
        }
        Operands::Same(all) => {
            for element in T::of_mut(all) {
                let value = T::load(*element);
                *element = f(value, value).store();
            }
        }
    }
}

/// Stores `f(a, b)` in the result for each element up to the first one that has no result.
///
/// # Errors
/// The index of that element. That element and those after it are unchanged.
pub(super) fn try_each<T: Element>(
    operands: Operands<'_>,
    f: impl Fn(T, T) -> Option<T>,
) -> Result<(), usize> {
    match operands {
        Operands::Distinct { a, b, c } => {
            for (at, ((c, a), b)) in T::of_mut(c).iter_mut().zip(T::of(a)).zip(T::of(b)).enumerate()
            {
                *c = f(T::load(*a), T::load(*b)).ok_or(at)?.store();
            }
        }
        Operands::IntoA { a, b } => {
            for (at, (a, b)) in T::of_mut(a).iter_mut().zip(T::of(b)).enumerate() {
                *a = f(T::load(*a), T::load(*b)).ok_or(at)?.store();
            }
        }
        Operands::IntoB { a, b } => {
            for (at, (b, a)) in T::of_mut(b).iter_mut().zip(T::of(a)).enumerate() {
                *b = f(T::load(*a), T::load(*b)).ok_or(at)?.store();
            }
        }
        Operands::Same(all) => {
            for (at, element) in T::of_mut(all).iter_mut().enumerate() {
                let value = T::load(*element);
                *element = f(value, value).ok_or(at)?.store();
            }
        }
    }
    Ok(())
}

/// Stores the result of an operation that every type has.
pub(super) fn numbers<T: Element>(op: Op, operands: Operands<'_>) {
    match op {
        Op::Max if T::HAS_NAN => each_mostly(operands, T::max_number, T::max),
        Op::Min if T::HAS_NAN => each_mostly(operands, T::min_number, T::min),
        Op::Max => each(operands, T::max),
        Op::Min => each(operands, T::min),
        Op::Sum => each(operands, T::sum),
        Op::Sub => each(operands, T::sub),
        Op::Prod => each(operands, T::prod),
        Op::Div => each(operands, T::div),
        Op::Land => each(operands, |a: T, b| T::truth(a.is_true() & b.is_true())),
        Op::Lor => each(operands, |a: T, b| T::truth(a.is_true() | b.is_true())),
        Op::Lxor => each(operands, |a: T, b| T::truth(a.is_true() ^ b.is_true())),
        Op::Copy | Op::Band | Op::Bor | Op::Bxor => {
            panic!("{} on elements that don't have it", op.name())
        }
    }
}
