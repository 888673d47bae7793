//! What an element of a buffer can do: integers here, floating-point numbers in their own file.

/// One element: how it lies in memory, and the operations that every type has.
pub(super) trait Element: Copy {
    /// Its bytes, which may lie anywhere.
    type Bytes: Copy;

    /// The elements of whole bytes.
    fn of(bytes: &[u8]) -> &[Self::Bytes];
    /// The same, to be changed.
    fn of_mut(bytes: &mut [u8]) -> &mut [Self::Bytes];
    fn load(bytes: Self::Bytes) -> Self;
    fn store(self) -> Self::Bytes;

    /// Whether some values are no numbers.
    const HAS_NAN: bool = false;
    fn is_nan(self) -> bool {
        false
    }

    fn max(self, other: Self) -> Self;
    fn min(self, other: Self) -> Self;
    /// [`Element::max`] of two numbers.
    fn max_number(self, other: Self) -> Self {
        self.max(other)
    }
    /// [`Element::min`] of two numbers.
    fn min_number(self, other: Self) -> Self {
        self.min(other)
    }
    fn sum(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn prod(self, other: Self) -> Self;
    /// An integer's divisor must not be 0.
    fn div(self, other: Self) -> Self;
    /// Whether it is another number than 0.
    fn is_true(self) -> bool;
    /// 1 or 0.
    fn truth(value: bool) -> Self;
}

/// An element that has bitwise operations too, and that zero doesn't divide.
pub(super) trait Integer: Element {
    fn band(self, other: Self) -> Self;
    fn bor(self, other: Self) -> Self;
    fn bxor(self, other: Self) -> Self;
}

/// How elements of `$width` bytes lie in memory.
macro_rules! little_endian {
    ($width:literal, $bits:ty) => {
        type Bytes = [u8; $width];

        fn of(bytes: &[u8]) -> &[Self::Bytes] {
            bytes.as_chunks().0
        }

        fn of_mut(bytes: &mut [u8]) -> &mut [Self::Bytes] {
            bytes.as_chunks_mut().0
        }

        #[inline]
        fn load(bytes: Self::Bytes) -> Self {
            <$bits>::from_le_bytes(bytes)
        }

        #[inline]
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

            #[inline]
            fn max(self, other: Self) -> Self {
                Ord::max(self, other)
            }

            #[inline]
            fn min(self, other: Self) -> Self {
                Ord::min(self, other)
            }

            #[inline]
            fn sum(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline]
            fn prod(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            #[inline]
            fn div(self, other: Self) -> Self {
                self.wrapping_div(other)
            }

            #[inline]
            fn is_true(self) -> bool {
                self != 0
            }

            #[inline]
            fn truth(value: bool) -> Self {
                value.into()
            }
        }

        impl Integer for $type {
            #[inline]
            fn band(self, other: Self) -> Self {
                self & other
            }

            #[inline]
            fn bor(self, other: Self) -> Self {
                self | other
            }

            #[inline]
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
