//! `u32` newtype ids, and the wildcard value of ranks and tags.

use std::fmt;

/// The value of a receive's source or tag that matches every source or tag (`any` in text, `-1` in
/// Schedgen's form).
pub const ANY: u32 = u32::MAX;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The id of the element at `index`.
            ///
            /// # Panics
            /// If `index` does not fit 32 bits.
            #[inline]
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("more than 2^32 elements"))
            }

            /// The position of the element in its table.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// An action of a [`Body`](crate::Body), in the body's order.
    ActionId
}
id! {
    /// A [`Body`](crate::Body) of a [`Program`](crate::Program).
    BodyId
}
id! {
    /// A [`MemoryImage`](crate::MemoryImage) of a [`Program`](crate::Program).
    ImageId
}
