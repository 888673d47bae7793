//! The sizes of segments.

use crate::machine::Machine;

/// The way in which an action is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cut {
    /// The bytes of a segment. The last segment may have fewer, or more if the rest would be too
    /// small.
    pub(super) segment: u64,
    pub(super) parts: u64,
}

impl Cut {
    /// Splits an action of `bytes` bytes into segments of `asked` bytes. For a message above the
    /// eager limit, each segment is above it, too. So its send still waits for its receive.
    pub(super) fn new(bytes: u64, asked: u64, eager_limit: u64) -> Self {
        if bytes <= eager_limit {
            return Self { segment: asked, parts: bytes.div_ceil(asked) };
        }
        let least =
            eager_limit.saturating_add(1).checked_next_multiple_of(BORDER).unwrap_or(u64::MAX);
        let segment = asked.max(least);
        let rest = bytes % segment;
        Self { segment, parts: (bytes / segment + u64::from(rest > eager_limit)).max(1) }
    }
}

/// Segments begin at multiples of this number of bytes, so that none ends within an element of any
/// datatype.
pub(super) const BORDER: u64 = 8;

/// The default size of segments.
///
/// A rank that forwards is busy for c = max(g, 2o) with every segment and for b = O + max(O, G)
/// with each byte. On a path of h messages of n bytes, in segments of s bytes, the last segment
/// arrives after
///
/// ```text
/// (h - 1 + n / s) (c + s b),
/// ```
///
/// which is least for s = sqrt(n c / ((h - 1) b)). The size is rounded to a power of two. So if a
/// message is a part of another one, the segments of both end together. The size is at least
/// c / b: in a smaller segment, the message takes more time than its bytes.
pub(super) struct Rule {
    pub(super) least: u64,
}

impl Rule {
    pub(super) fn new(machine: &Machine) -> Self {
        let busy = machine.gap_ns.max(2.0 * machine.overhead_ns);
        let per_byte = machine.overhead_per_byte_ns
            + machine.overhead_per_byte_ns.max(machine.gap_per_byte_ns);
        // If bytes take no time, segments gain nothing.
        let least = if per_byte > 0.0 { (busy / per_byte) as u64 } else { u64::MAX };
        Self { least: least.max(BORDER) }
    }

    pub(super) fn segment(&self, bytes: u64, hops: u32) -> u64 {
        let best = (bytes as f64 * self.least as f64 / f64::from(hops.max(2) - 1)).sqrt();
        let rounded = best.log2().round().exp2() as u64;
        rounded.max(self.least).checked_next_multiple_of(BORDER).unwrap_or(u64::MAX)
    }
}
