//! Sequence numbers, which count packets and wrap around.

use std::fmt;

/// The number of a packet, modulo 2^32. Two numbers can be compared only if they are less than 2^31
/// apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Seq(pub(crate) u32);

impl Seq {
    /// Returns the number `count` packets further on.
    #[inline]
    pub(crate) fn plus(self, count: u32) -> Seq {
        Seq(self.0.wrapping_add(count))
    }

    /// Returns the number of packets from `earlier` to this one. It is negative if this one comes
    /// first.
    #[inline]
    pub(crate) fn since(self, earlier: Seq) -> i32 {
        self.0.wrapping_sub(earlier.0) as i32
    }

    /// Returns true if this comes before `other`.
    #[inline]
    pub(crate) fn is_before(self, other: Seq) -> bool {
        self.since(other) < 0
    }

    /// Returns the later one of both.
    #[inline]
    pub(crate) fn max(self, other: Seq) -> Seq {
        if self.is_before(other) { other } else { self }
    }

    /// Returns the earlier one of both.
    #[inline]
    pub(crate) fn min(self, other: Seq) -> Seq {
        if self.is_before(other) { self } else { other }
    }
}

impl fmt::Debug for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
