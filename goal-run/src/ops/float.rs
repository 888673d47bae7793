//! Floating-point elements.

use super::element::{Element, little_endian};
use half::f16;

macro_rules! float {
    ($float:ty, $width:literal) => {
        impl Element for $float {
            little_endian!($width, $float);

            /// Equal numbers that differ are zeros: the positive one has no bit set.
            #[inline]
            fn max(self, other: Self) -> Self {
                let equal = Self::from_bits(self.to_bits() & other.to_bits());
                let larger = if self > other { self } else { other };
                number_of(self, other, if self == other { equal } else { larger })
            }

            #[inline]
            fn min(self, other: Self) -> Self {
                let equal = Self::from_bits(self.to_bits() | other.to_bits());
                let smaller = if self < other { self } else { other };
                number_of(self, other, if self == other { equal } else { smaller })
            }

            #[inline]
            fn sum(self, other: Self) -> Self {
                canonical(self + other)
            }

            #[inline]
            fn sub(self, other: Self) -> Self {
                canonical(self - other)
            }

            #[inline]
            fn prod(self, other: Self) -> Self {
                canonical(self * other)
            }

            #[inline]
            fn div(self, other: Self) -> Self {
                canonical(self / other)
            }

            #[inline]
            fn is_true(self) -> bool {
                self != 0.0
            }

            #[inline]
            fn truth(value: bool) -> Self {
                if value { 1.0 } else { 0.0 }
            }
        }
    };
}

/// The one NaN for all NaNs.
#[inline]
fn canonical<T: Float>(value: T) -> T {
    if value.is_nan() { T::NAN } else { value }
}

/// `chosen` where both are numbers, else the one that is.
#[inline]
fn number_of<T: Float>(a: T, b: T, chosen: T) -> T {
    let a_or_chosen = if b.is_nan() { a } else { chosen };
    canonical(if a.is_nan() { b } else { a_or_chosen })
}

trait Float: Copy {
    const NAN: Self;
    fn is_nan(self) -> bool;
}

impl Float for f32 {
    const NAN: Self = f32::from_bits(0x7fc0_0000);

    #[inline]
    fn is_nan(self) -> bool {
        self.is_nan()
    }
}

impl Float for f64 {
    const NAN: Self = f64::from_bits(0x7ff8_0000_0000_0000);

    #[inline]
    fn is_nan(self) -> bool {
        self.is_nan()
    }
}

float!(f32, 4);
float!(f64, 8);

/// Computed as Float32 and rounded once: 24 bits are more than twice 11 and 2, so the first rounding never shows.
impl Element for f16 {
    little_endian!(2, f16);

    #[inline]
    fn max(self, other: Self) -> Self {
        f16::from_f32(Element::max(self.to_f32(), other.to_f32()))
    }

    #[inline]
    fn min(self, other: Self) -> Self {
        f16::from_f32(Element::min(self.to_f32(), other.to_f32()))
    }

    #[inline]
    fn sum(self, other: Self) -> Self {
        f16::from_f32(self.to_f32().sum(other.to_f32()))
    }

    #[inline]
    fn sub(self, other: Self) -> Self {
        f16::from_f32(Element::sub(self.to_f32(), other.to_f32()))
    }

    #[inline]
    fn prod(self, other: Self) -> Self {
        f16::from_f32(self.to_f32().prod(other.to_f32()))
    }

    #[inline]
    fn div(self, other: Self) -> Self {
        f16::from_f32(Element::div(self.to_f32(), other.to_f32()))
    }

    #[inline]
    fn is_true(self) -> bool {
        self.to_bits() << 1 != 0
    }

    #[inline]
    fn truth(value: bool) -> Self {
        if value { f16::ONE } else { f16::ZERO }
    }
}
