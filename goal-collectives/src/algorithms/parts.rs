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
pub(super) fn chunks(buf: Buf, bytes: u64) -> impl Iterator<Item = Buf> + use<> {
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

/// Returns the steps from 0 on, below the number of ranks minus one, at which a rank in a ring
/// passes on a chunk or gets one. In step s, place `me` sends chunk `me - s` and gets the one
/// before. Chunks without elements are left out, so that a short block takes few steps.
pub(super) fn ring_steps(rank: &Rank<'_>, block: Buf, me: u32) -> Vec<u32> {
    let ranks = rank.ranks();
    let (count, total) = (block.size() / rank.width(), u64::from(ranks));
    if 2 * count >= total {
        return (0..ranks - 1).collect();
    }
    let mut steps: Vec<u32> = (0..count)
        .flat_map(|element| {
            // The last chunk that begins at or before the element: edges are at
            // count * number / total.
            let number =
                (u128::from(element + 1) * u128::from(total)).div_ceil(u128::from(count)) - 1;
            let sent = (u64::from(me) + total - number as u64) % total;
            [sent, (sent + total - 1) % total]
        })
        .filter(|&step| step < total - 1)
        .map(|step| step as u32)
        .collect();
    steps.sort_unstable();
    steps.dedup();
    steps
}
