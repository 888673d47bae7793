//! What a request (RRQ) asks for: at most [`RANGES_MAX`] ranges of packets.
//!
//! ```text
//!  0       4       8
//! +-------+-------+----
//! | first | count | ...
//! +-------+-------+----
//! ```
//!
//! No range asks for nothing but an acknowledgement: that is how a side finds out whether its peer
//! lives.

use super::bytes::u32_at;
use crate::limits::RANGES_MAX;

const RANGE_LEN: usize = 8;

/// Consecutive packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Range {
    /// Number of the first one.
    pub first: u32,
    /// How many.
    pub count: u32,
}

/// At most [`RANGES_MAX`] ranges, in the payload of a request.
#[derive(Debug, Clone, Copy)]
pub struct Ranges<'a>(&'a [u8]);

impl<'a> Ranges<'a> {
    /// The ranges of a payload; `None` where it is none of a request.
    pub fn parse(payload: &'a [u8]) -> Option<Self> {
        let fits =
            payload.len() <= RANGES_MAX * RANGE_LEN && payload.len().is_multiple_of(RANGE_LEN);
        fits.then_some(Self(payload))
    }

    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = Range> + 'a {
        self.0
            .chunks_exact(RANGE_LEN)
            .map(|bytes| Range { first: u32_at(bytes, 0..4), count: u32_at(bytes, 4..8) })
    }

    /// Bytes that `ranges` take.
    pub fn len_of(ranges: &[Range]) -> usize {
        ranges.len() * RANGE_LEN
    }

    /// Writes `ranges` to `out`, which has [`Ranges::len_of`] bytes.
    pub fn emit(ranges: &[Range], out: &mut [u8]) {
        for (range, bytes) in ranges.iter().zip(out.chunks_exact_mut(RANGE_LEN)) {
            bytes[..4].copy_from_slice(&range.first.to_be_bytes());
            bytes[4..].copy_from_slice(&range.count.to_be_bytes());
        }
    }
}
