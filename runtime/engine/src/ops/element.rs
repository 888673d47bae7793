//! The operations on one element of a buffer: the trait, and integers. `float.rs` has
//! floating-point numbers.

/// One element: its bytes in memory, and the operations that every type has.
pub(super) trait Element: Copy {
    /// The bytes of the element in memory, without alignment.
    type Bytes: Copy;

    /// The elements in a byte slice.
    fn of(bytes: &[u8]) -> &[Self::Bytes];
    /// The elements in a byte slice, for changes.
    fn of_mut(bytes: &mut [u8]) -> &mut [Self::Bytes];
    fn load(bytes: Self::Bytes) -> Self;
    fn store(self) -> Self::Bytes;

    /// True if some values are not numbers (NaN).
    const HAS_NAN: bool = false;
    fn is_nan(self) -> bool {
        false
    }

    fn max(self, other: Self) -> Self;
    fn min(self, other: Self) -> Self;
    /// [`Element::max`] of two values that are not NaN.
    fn max_number(self, other: Self) -> Self {
        self.max(other)
    }
    /// [`Element::min`] of two values that are not NaN.
    fn min_number(self, other: Self) -> Self {
        self.min(other)
    }
    fn sum(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn prod(self, other: Self) -> Self;
    /// The divisor of an integer must not be 0.
    fn div(self, other: Self) -> Self;
    /// Returns true if the value is not 0.
    fn is_true(self) -> bool;
    /// Returns 1 for true, 0 for false.
    fn truth(value: bool) -> Self;
}

/// An element that also has bitwise operations, and that cannot be divided by zero.
pub(super) trait Integer: Element {
    fn band(self, other: Self) -> Self;
    fn bor(self, other: Self) -> Self;
    fn bxor(self, other: Self) -> Self;
}

/// Implements the representation of elements of `$width` bytes.
macro_rules! little_endian {
    ($width:literal, $bits:ty) => {
        type Bytes = [u8; $width];

        fn of(bytes: &[u8]) -> &[Self::Bytes] {
            bytes.as_chunks().0
        }

        fn of_mut(bytes: &mut [u8]) -> &mut [Self::Bytes] {
            bytes.as_chunks_mut().0
        }

        #[inline(always)]
        fn load(bytes: Self::Bytes) -> Self {
            <$bits>::from_le_bytes(bytes)
        }

        #[inline(always)]
        fn store(self) -> Self::Bytes {
            self.to_le_bytes()
        }
    };
}
pub(super) use little_endian;

macro_rules! integer {
    ($($type:ty, $width:literal;)*) => {$(
        impl Element for $type {
            little_endian!($width, $type);

            #[inline(always)]
            fn max(self, other: Self) -> Self {
                Ord::max(self, other)
            }

            #[inline(always)]
            fn min(self, other: Self) -> Self {
                Ord::min(self, other)
            }

            #[inline(always)]
            fn sum(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn prod(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            #[inline(always)]
            fn div(self, other: Self) -> Self {
                self.wrapping_div(other)
            }

            #[inline(always)]
            fn is_true(self) -> bool {
                self != 0
            }

            #[inline(always)]
            fn truth(value: bool) -> Self {
                value.into()
            }
        }

        impl Integer for $type {
            #[inline(always)]
            fn band(self, other: Self) -> Self {
                self & other
            }

            #[inline(always)]
            fn bor(self, other: Self) -> Self {
                self | other
            }

            #[inline(always)]
            fn bxor(self, other: Self) -> Self {
                self ^ other
            }
        }
    )*};
}

integer! {
    i8, 1;
    i16, 2;
    i32, 4;
    i64, 8;
    u8, 1;
    u16, 2;
    u32, 4;
    u64, 8;
}
