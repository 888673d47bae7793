//! Blocks in parts.

use crate::buf::Buf;
use crate::rank::Rank;

/// Returns the bytes of a segment of a block of so many bytes: as requested, or as many as given,
/// and more for a block that would have too many of these; whole elements, at least one.
pub(super) fn segment(rank: &Rank<'_>, block: u64, default: u64) -> u64 {
    let wanted = match rank.request.segment {
        0 => default.max(block >> 16),
        wanted => wanted,
    };
    (wanted / rank.width()).max(1) * rank.width()
}

/// Returns a buffer in parts of so many bytes; the last one may be smaller.
pub(super) fn chunks(buf: Buf, bytes: u64) -> impl Iterator<Item = Buf> {
    let bytes = bytes.max(1);
    (0..buf.size().div_ceil(bytes)).map(move |number| {
        let offset = number * bytes;
        buf.part(offset, bytes.min(buf.size() - offset))
    })
}

/// Returns one of as many chunks of a block as there are ranks. Chunks have whole elements, and
/// differ by one element at most.
pub(super) fn chunk(rank: &Rank<'_>, block: Buf, number: u32) -> Buf {
    chunk_of(rank, block, number, rank.ranks())
}

/// Returns one of `total` chunks of a block.
pub(super) fn chunk_of(rank: &Rank<'_>, block: Buf, number: u32, total: u32) -> Buf {
    let width = rank.width();
    let (count, total) = (u128::from(block.size() / width), u128::from(total));
    let edge = |number: u32| (count * u128::from(number) / total) as u64 * width;
    let (start, end) = (edge(number), edge(number + 1));
    block.part(start, end - start)
}
