//! Tables of the compiled loops: one function for each operation, type and instruction set.

// A function with another instruction set than the crate's may run only where the processor has it.
#![allow(unsafe_code)]

use super::element::Element;
use super::half;
use super::loops::{self, DivisionByZero};
use super::operators::{
    Band, Bor, Bxor, Div, Land, Lor, Lxor, Max, Min, Operator, Prod, Reversed, Sub, Sum,
};
use goal_lang::{Datatype, Op};

/// A loop that stores `a op b` in B.
type Two = unsafe fn(&[u8], &mut [u8]) -> Result<(), DivisionByZero>;
/// A loop that stores `a op b` in C.
type Three = unsafe fn(&[u8], &[u8], &mut [u8]) -> Result<(), DivisionByZero>;

/// One more than the largest code of a type.
const DATATYPES: usize = Datatype::Float64 as usize + 1;
/// One more than the largest code of an operation.
const OPS: usize = Op::Div as usize + 1;

/// The loops of one instruction set, by the codes of operation and type.
pub(super) struct Kernels {
    two: [[Two; DATATYPES]; OPS],
    /// As `two`, with A and B exchanged.
    two_reversed: [[Two; DATATYPES]; OPS],
    three: [[Three; DATATYPES]; OPS],
}

/// The size in bytes from which on the head of a result is computed separately: see `head`.
const LARGE: usize = 2 << 10;

impl Kernels {
    /// Stores `a op b` in B. The operands must be equally many whole elements.
    #[inline(always)]
    pub(super) fn two(
        &self,
        op: Op,
        datatype: Datatype,
        a: &[u8],
        b: &mut [u8],
    ) -> Result<(), DivisionByZero> {
        let each = self.two[op as usize][datatype as usize];
        // SAFETY: the processor has the instructions: `kernels` returns no other table.
        unsafe { if b.len() < LARGE { each(a, b) } else { two_large(each, datatype, a, b) } }
    }

    /// Stores `b op a` in B, as [`Kernels::two`] stores `a op b`.
    #[inline(always)]
    pub(super) fn two_reversed(
        &self,
        op: Op,
        datatype: Datatype,
        a: &[u8],
        b: &mut [u8],
    ) -> Result<(), DivisionByZero> {
        let each = self.two_reversed[op as usize][datatype as usize];
        // SAFETY: as in `two`.
        unsafe { if b.len() < LARGE { each(a, b) } else { two_large(each, datatype, a, b) } }
    }

    /// Stores `a op b` in C, as [`Kernels::two`] does in B.
    #[inline(always)]
    pub(super) fn three(
        &self,
        op: Op,
        datatype: Datatype,
        a: &[u8],
        b: &[u8],
        c: &mut [u8],
    ) -> Result<(), DivisionByZero> {
        let each = self.three[op as usize][datatype as usize];
        // SAFETY: as in `two`.
        unsafe {
            if c.len() < LARGE { each(a, b, c) } else { three_large(each, datatype, a, b, c) }
        }
    }
}

/// Calls a loop for the head of the result and for the rest, so that the stores to the rest are
/// aligned.
///
/// # Safety
/// The processor has the instructions that the loop is compiled for.
#[inline(never)]
unsafe fn two_large(
    each: Two,
    datatype: Datatype,
    a: &[u8],
    b: &mut [u8],
) -> Result<(), DivisionByZero> {
    let head = head(b, datatype);
    let ((a, a_rest), (b, b_rest)) = (a.split_at(head), b.split_at_mut(head));
    if head > 0 {
        // SAFETY: the caller's promise.
        unsafe { each(a, b)? };
    }
    // SAFETY: the caller's promise.
    unsafe { each(a_rest, b_rest) }.map_err(behind(head, datatype))
}

/// [`two_large`] with a third buffer for the result.
///
/// # Safety
/// As for [`two_large`].
#[inline(never)]
unsafe fn three_large(
    each: Three,
    datatype: Datatype,
    a: &[u8],
    b: &[u8],
    c: &mut [u8],
) -> Result<(), DivisionByZero> {
    let head = head(c, datatype);
    let ((a, a_rest), (b, b_rest)) = (a.split_at(head), b.split_at(head));
    let (c, c_rest) = c.split_at_mut(head);
    if head > 0 {
        // SAFETY: the caller's promise.
        unsafe { each(a, b, c)? };
    }
    // SAFETY: the caller's promise.
    unsafe { each(a_rest, b_rest, c_rest) }.map_err(behind(head, datatype))
}

/// Returns the number of bytes of a large result before its first whole cache line. Returns 0 if no
/// element begins at that line. These bytes are computed on their own. Otherwise the stores of the
/// loop cross lines, which takes up to 1.5 times as long if the operands lie in the first-level
/// cache.
fn head(result: &[u8], datatype: Datatype) -> usize {
    const LINE: usize = 64;
    let head = result.as_ptr().addr().wrapping_neg() % LINE;
    if head.is_multiple_of(datatype.width() as usize) { head } else { 0 }
}

/// Returns a function for errors behind the head. It adds the number of elements of the head to the
/// number of the element.
fn behind(head: usize, datatype: Datatype) -> impl Fn(DivisionByZero) -> DivisionByZero {
    move |DivisionByZero { element }| {
        let before = head as u64 / datatype.width();
        DivisionByZero { element: before + element }
    }
}

fn no_two(_: &[u8], _: &mut [u8]) -> Result<(), DivisionByZero> {
    panic!("an operation that is not defined on its type")
}

fn no_three(_: &[u8], _: &[u8], _: &mut [u8]) -> Result<(), DivisionByZero> {
    panic!("an operation that is not defined on its type")
}

/// The loops of one form, by the codes of operation and type: `$each` for most types, `$halves` for
/// Float16, `$divide` for divisions of integers. Unsigned integers use the loops of signed ones if
/// the results have the same bits.
macro_rules! table {
    ($none:ident, $each:ident, $halves:ident, $divide:ident, $sub:ty, $div:ty) => {
        [
            [$none; DATATYPES],
            table!(@numbers $none, $each, $halves, Max, u8, u16, u32, u64),
            table!(@numbers $none, $each, $halves, Min, u8, u16, u32, u64),
            table!(@numbers $none, $each, $halves, Sum, i8, i16, i32, i64),
            table!(@numbers $none, $each, $halves, Prod, i8, i16, i32, i64),
            table!(@numbers $none, $each, $halves, Land, i8, i16, i32, i64),
            table!(@numbers $none, $each, $halves, Lor, i8, i16, i32, i64),
            table!(@numbers $none, $each, $halves, Lxor, i8, i16, i32, i64),
            table!(@integers $none, $each, Band),
            table!(@integers $none, $each, Bor),
            table!(@integers $none, $each, Bxor),
            [$none; DATATYPES],
            table!(@numbers $none, $each, $halves, $sub, i8, i16, i32, i64),
            [
                $none,
                loops::$divide::<i8>,
                loops::$divide::<i16>,
                loops::$divide::<i32>,
                loops::$divide::<i64>,
                loops::$divide::<u8>,
                loops::$divide::<u16>,
                loops::$divide::<u32>,
                loops::$divide::<u64>,
                $none,
                $halves::<$div>,
                $each::<f32, $div>,
                $each::<f64, $div>,
            ],
        ]
    };
    (@numbers $none:ident, $each:ident, $halves:ident, $op:ty, $($unsigned:ty),*) => {
        [
            $none,
            $each::<i8, $op>,
            $each::<i16, $op>,
            $each::<i32, $op>,
            $each::<i64, $op>,
            $($each::<$unsigned, $op>,)*
            $none,
            $halves::<$op>,
            $each::<f32, $op>,
            $each::<f64, $op>,
        ]
    };
    (@integers $none:ident, $each:ident, $op:ty) => {
        [
            $none,
            $each::<i8, $op>,
            $each::<i16, $op>,
            $each::<i32, $op>,
            $each::<i64, $op>,
            $each::<i8, $op>,
            $each::<i16, $op>,
            $each::<i32, $op>,
            $each::<i64, $op>,
            $none,
            $none,
            $none,
            $none,
        ]
    };
}

/// Defines the module of one instruction set: each loop, compiled with these features, and the
/// table of all loops.
macro_rules! instruction_set {
    ($module:ident, $(#[$features:meta],)? $widen:path, $narrow:path) => {
        pub(super) mod $module {
            use super::*;

            $(#[$features])?
            fn two<T: Element, O: Operator<T>>(
                a: &[u8],
                b: &mut [u8],
            ) -> Result<(), DivisionByZero> {
                loops::two::<T, O>(a, b);
                Ok(())
            }

            $(#[$features])?
            fn three<T: Element, O: Operator<T>>(
                a: &[u8],
                b: &[u8],
                c: &mut [u8],
            ) -> Result<(), DivisionByZero> {
                loops::three::<T, O>(a, b, c);
                Ok(())
            }

            $(#[$features])?
            fn two_halves<O: Operator<f32>>(a: &[u8], b: &mut [u8]) -> Result<(), DivisionByZero> {
                half::two::<O>(a, b, |halves| $widen(halves), |singles| $narrow(singles));
                Ok(())
            }

            $(#[$features])?
            fn three_halves<O: Operator<f32>>(
                a: &[u8],
                b: &[u8],
                c: &mut [u8],
            ) -> Result<(), DivisionByZero> {
                half::three::<O>(a, b, c, |halves| $widen(halves), |singles| $narrow(singles));
                Ok(())
            }

            pub(in super::super) static KERNELS: Kernels = Kernels {
                two: table!(no_two, two, two_halves, divide, Sub, Div),
                two_reversed: table!(
                    no_two,
                    two,
                    two_halves,
                    divide_reversed,
                    Reversed<Sub>,
                    Reversed<Div>
                ),
                three: table!(no_three, three, three_halves, divide_three, Sub, Div),
            };
        }
    };
}

instruction_set!(baseline, half::widen, half::narrow);
#[cfg(target_arch = "x86_64")]
instruction_set!(
    avx2,
    #[target_feature(enable = "avx2,bmi1,bmi2,f16c,lzcnt,popcnt")],
    half::x86::widen,
    half::x86::narrow
);
#[cfg(target_arch = "x86_64")]
instruction_set!(
    avx512,
    #[target_feature(
        enable = "avx2,bmi1,bmi2,f16c,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
    )],
    half::x86::widen,
    half::x86::narrow
);
