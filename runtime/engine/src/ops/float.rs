//! The operations on one floating-point element of a buffer.

use super::element::{Element, little_endian};

macro_rules! float {
    ($float:ty, $width:literal) => {
        impl Element for $float {
            little_endian!($width, $float);

            const HAS_NAN: bool = true;

            #[inline(always)]
            fn is_nan(self) -> bool {
                <$float>::is_nan(self)
            }

            #[inline(always)]
            fn max(self, other: Self) -> Self {
                let (a, b) = numbers(self, other);
                canonical(a.max_number(b))
            }

            #[inline(always)]
            fn min(self, other: Self) -> Self {
                let (a, b) = numbers(self, other);
                canonical(a.min_number(b))
            }

            /// Each comparison compiles to one instruction, which returns its second operand if
            /// neither is larger. So `one` and `two` are both the maximum, except for zeros of
            /// different signs: then they differ, and `&` gives the positive zero, which has no bit
            /// set.
            #[inline(always)]
            fn max_number(self, other: Self) -> Self {
                let (one, two) = (
                    if self > other { self } else { other },
                    if other > self { other } else { self },
                );
                Self::from_bits(one.to_bits() & two.to_bits())
            }

            #[inline(always)]
            fn min_number(self, other: Self) -> Self {
                let (one, two) = (
                    if self < other { self } else { other },
                    if other < self { other } else { self },
                );
                Self::from_bits(one.to_bits() | two.to_bits())
            }

            #[inline(always)]
            fn sum(self, other: Self) -> Self {
                canonical(self + other)
            }

            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                canonical(self - other)
            }

            #[inline(always)]
            fn prod(self, other: Self) -> Self {
                canonical(self * other)
            }

            #[inline(always)]
            fn div(self, other: Self) -> Self {
                canonical(self / other)
            }

            #[inline(always)]
            fn is_true(self) -> bool {
                self != 0.0
            }

            #[inline(always)]
            fn truth(value: bool) -> Self {
                if value { 1.0 } else { 0.0 }
            }
        }
    };
}

/// Replaces any NaN by the canonical NaN: positive, quiet and without payload.
#[inline(always)]
fn canonical<T: Float>(value: T) -> T {
    if value.is_nan() { T::NAN } else { value }
}

/// Replaces a NaN by the other value. Two NaNs become the same NaN.
#[inline(always)]
fn numbers<T: Float>(a: T, b: T) -> (T, T) {
    let b = if b.is_nan() { a } else { b };
    (if a.is_nan() { b } else { a }, b)
}

trait Float: Element {
    const NAN: Self;
}

impl Float for f32 {
    const NAN: Self = f32::from_bits(0x7fc0_0000);
}

impl Float for f64 {
    const NAN: Self = f64::from_bits(0x7ff8_0000_0000_0000);
}

float!(f32, 4);
float!(f64, 8);
