//! The operations in their plainest form: a loop over two slices, a memcpy for the copy.

// A loop compiled for this processor may run only here.
#![allow(unsafe_code)]

use goal_engine::InstructionSet;
use goal_lang::{Datatype, Op};
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// An element of an operand.
trait Number: FromBytes + IntoBytes + Immutable + PartialOrd + Copy {
    fn from_usize(value: usize) -> Self;
    fn sum(a: Self, b: Self) -> Self;
    fn product(a: Self, b: Self) -> Self;
}

macro_rules! numbers {
    ($($name:ident $sum:expr, $product:expr;)*) => { $(
        impl Number for $name {
            fn from_usize(value: usize) -> Self {
                value as $name
            }

            fn sum(a: Self, b: Self) -> Self {
                $sum(a, b)
            }

            fn product(a: Self, b: Self) -> Self {
                $product(a, b)
            }
        }
    )* };
}

numbers! {
    i32 i32::wrapping_add, i32::wrapping_mul;
    i64 i64::wrapping_add, i64::wrapping_mul;
    f32 std::ops::Add::add, std::ops::Mul::mul;
    f64 std::ops::Add::add, std::ops::Mul::mul;
}

/// B = A op B, compiled as this program is.
///
/// # Panics
/// The operation or the type is not measured.
#[inline(never)]
pub(super) fn apply(function: (Op, Datatype), a: &[u8], b: &mut [u8]) {
    compute(function, a, b);
}

/// B = A op B, compiled for this processor.
///
/// # Panics
/// As [`apply`].
#[inline(never)]
pub(super) fn apply_native(function: (Op, Datatype), a: &[u8], b: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,bmi1,bmi2")]
        fn avx2(function: (Op, Datatype), a: &[u8], b: &mut [u8]) {
            compute(function, a, b);
        }

        #[target_feature(enable = "avx2,bmi1,bmi2,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
        fn avx512(function: (Op, Datatype), a: &[u8], b: &mut [u8]) {
            compute(function, a, b);
        }

        if InstructionSet::Avx512.is_available() {
            // SAFETY: the processor has the instructions.
            return unsafe { avx512(function, a, b) };
        }
        if InstructionSet::Avx2.is_available() {
            // SAFETY: as above.
            return unsafe { avx2(function, a, b) };
        }
    }
    apply(function, a, b);
}

#[inline(always)]
fn compute((op, datatype): (Op, Datatype), a: &[u8], b: &mut [u8]) {
    match (op, datatype) {
        (Op::Copy, _) => b.copy_from_slice(a),
        (Op::Band, Datatype::Int32) => each(a, b, |a: i32, b| a & b),
        (Op::Band, Datatype::Int64) => each(a, b, |a: i64, b| a & b),
        (_, Datatype::Int32) => number::<i32>(op, a, b),
        (_, Datatype::Int64) => number::<i64>(op, a, b),
        (_, Datatype::Float32) => number::<f32>(op, a, b),
        (_, Datatype::Float64) => number::<f64>(op, a, b),
        _ => panic!("{} is not measured on {}", op.name(), datatype.name()),
    }
}

#[inline(always)]
fn number<T: Number>(op: Op, a: &[u8], b: &mut [u8]) {
    match op {
        Op::Sum => each(a, b, T::sum),
        Op::Prod => each(a, b, T::product),
        Op::Max => each(a, b, |a: T, b| if a > b { a } else { b }),
        _ => panic!("{} is not measured", op.name()),
    }
}

#[inline(always)]
fn each<T: Number>(a: &[u8], b: &mut [u8], f: impl Fn(T, T) -> T) {
    let (a, b) = (elements::<T>(a), elements_mut::<T>(b));
    for (b, &a) in b.iter_mut().zip(a) {
        *b = f(a, *b);
    }
}

/// Stores into each element the `value` of its index.
pub(super) fn store(datatype: Datatype, bytes: &mut [u8], value: impl Fn(usize) -> usize) {
    fn typed<T: Number>(bytes: &mut [u8], value: impl Fn(usize) -> usize) {
        elements_mut::<T>(bytes)
            .iter_mut()
            .enumerate()
            .for_each(|(index, to)| *to = T::from_usize(value(index)));
    }
    match datatype {
        Datatype::Int32 => typed::<i32>(bytes, value),
        Datatype::Int64 => typed::<i64>(bytes, value),
        Datatype::Float32 => typed::<f32>(bytes, value),
        Datatype::Float64 => typed::<f64>(bytes, value),
        _ => panic!("{} is not measured", datatype.name()),
    }
}

fn elements<T: Number>(bytes: &[u8]) -> &[T] {
    <[T]>::ref_from_bytes(bytes).expect("whole elements at a multiple of their size")
}

fn elements_mut<T: Number>(bytes: &mut [u8]) -> &mut [T] {
    <[T]>::mut_from_bytes(bytes).expect("whole elements at a multiple of their size")
}
