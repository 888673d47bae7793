//! Sequence numbers, which count packets and wrap.

use std::fmt;

/// Number of a packet, modulo 2^32. Two numbers are compared only where they are less than 2^31
/// apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Seq(pub u32);

impl Seq {
    /// The number `count` packets further on.
    #[inline]
    pub fn plus(self, count: u32) -> Seq {
        Seq(self.0.wrapping_add(count))
    }

    /// How many packets this is behind `earlier`; negative if it is before it.
    #[inline]
    pub fn since(self, earlier: Seq) -> i32 {
        self.0.wrapping_sub(earlier.0) as i32
    }

    /// Whether this comes before `other`.
    #[inline]
    pub fn is_before(self, other: Seq) -> bool {
        self.since(other) < 0
    }

    /// The later one of both.
    #[inline]
    pub fn max(self, other: Seq) -> Seq {
        if self.is_before(other) { other } else { self }
    }

    /// The earlier one of both.
    #[inline]
    pub fn min(self, other: Seq) -> Seq {
        if self.is_before(other) { self } else { other }
    }
}

impl fmt::Debug for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
