//! The payload of a request (RRQ): at most [`RANGES_MAX`] ranges of packets.
//!
//! ```text
//!  0       4       8
//! +-------+-------+----
//! | first | count | ...
//! +-------+-------+----
//! ```
//!
//! A request without ranges asks only for an acknowledgement: a sign of life.

use super::bytes::u32_at;
use crate::limits::RANGES_MAX;

const RANGE_LEN: usize = 8;

/// Consecutive packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Range {
    /// The number of the first packet.
    pub first: u32,
    /// The number of packets.
    pub count: u32,
}

/// At most [`RANGES_MAX`] ranges, in the payload of a request.
#[derive(Debug, Clone, Copy)]
pub struct Ranges<'a>(&'a [u8]);

impl<'a> Ranges<'a> {
    /// Returns the ranges of a payload; `None` if it is malformed.
    pub fn parse(payload: &'a [u8]) -> Option<Self> {
        let fits =
            payload.len() <= RANGES_MAX * RANGE_LEN && payload.len().is_multiple_of(RANGE_LEN);
        fits.then_some(Self(payload))
    }

    /// Returns the ranges in order.
    pub fn iter(self) -> impl Iterator<Item = Range> + 'a {
        self.0
            .chunks_exact(RANGE_LEN)
            .map(|bytes| Range { first: u32_at(bytes, 0..4), count: u32_at(bytes, 4..8) })
    }

    /// Returns the length of `ranges` in bytes.
    pub fn len_of(ranges: &[Range]) -> usize {
        ranges.len() * RANGE_LEN
    }

    /// Writes `ranges` to `out`, which must have [`Ranges::len_of`] bytes.
    pub fn emit(ranges: &[Range], out: &mut [u8]) {
        for (range, bytes) in ranges.iter().zip(out.chunks_exact_mut(RANGE_LEN)) {
            bytes[..4].copy_from_slice(&range.first.to_be_bytes());
            bytes[4..].copy_from_slice(&range.count.to_be_bytes());
        }
    }
}
