//! Divides blocks into segments and chunks.

use crate::buf::Buf;
use crate::rank::Rank;

/// Returns the bytes of a segment of a block with `block` bytes. If the request names no size, it
/// is `default`, or larger if the block would have more than 2^16 segments. A segment has whole
/// elements, at least one.
pub(super) fn segment(rank: &Rank<'_>, block: u64, default: u64) -> u64 {
    let wanted = match rank.request.segment {
        0 => default.max(block >> 16),
        wanted => wanted,
    };
    (wanted / rank.width()).max(1) * rank.width()
}

/// Returns a buffer in parts of `bytes` bytes; the last one may be smaller.
pub(super) fn chunks(buf: Buf, bytes: u64) -> impl Iterator<Item = Buf> + use<> {
    let bytes = bytes.max(1);
    (0..buf.size().div_ceil(bytes)).map(move |number| {
        let offset = number * bytes;
        buf.part(offset, bytes.min(buf.size() - offset))
    })
}

/// Divides a block into as many chunks as there are ranks, and returns chunk `number`. Chunks have
/// whole elements, and differ by one element at most.
pub(super) fn chunk(rank: &Rank<'_>, block: Buf, number: u32) -> Buf {
    chunk_of(rank, block, number, rank.ranks())
}

/// Divides a block into `total` chunks as [`chunk`] does, and returns chunk `number`.
pub(super) fn chunk_of(rank: &Rank<'_>, block: Buf, number: u32, total: u32) -> Buf {
    let width = rank.width();
    let (count, total) = (u128::from(block.size() / width), u128::from(total));
    let edge = |number: u32| (count * u128::from(number) / total) as u64 * width;
    let (start, end) = (edge(number), edge(number + 1));
    block.part(start, end - start)
}

/// The chunks of a block that have elements. If a block has fewer elements than chunks, some chunks
/// are empty.
pub(super) struct Filled {
    elements: u64,
    total: u32,
}

impl Filled {
    /// Divides a block into `total` chunks, and returns those with elements.
    pub(super) fn new(rank: &Rank<'_>, block: Buf, total: u32) -> Self {
        Self { elements: block.size() / rank.width(), total }
    }

    /// Returns the number of chunks with elements.
    fn len(&self) -> u32 {
        self.elements.min(self.total.into()) as u32
    }

    /// Returns the number of the chunk at a position among the chunks with elements.
    fn number(&self, position: u32) -> u32 {
        let (elements, total) = (u128::from(self.elements), u128::from(self.total));
        if elements >= total {
            return position;
        }
        // The last chunk that begins at or before the element: edges are at
        // elements * number / total.
        ((u128::from(position) + 1) * total).div_ceil(elements) as u32 - 1
    }

    /// Returns the number of chunks with elements before `chunk`.
    fn before(&self, chunk: u32) -> u32 {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.number(middle) < chunk {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns the chunks with elements behind `own` in the circle of all chunks, the nearest
    /// first.
    pub(super) fn above(self, own: u32) -> impl Iterator<Item = u32> {
        let (before, behind) = (self.before(own), self.before(own + 1));
        (behind..self.len()).chain(0..before).map(move |position| self.number(position))
    }

    /// Returns the chunks with elements before `own` in the circle of all chunks, the nearest
    /// first.
    pub(super) fn below(self, own: u32) -> impl Iterator<Item = u32> {
        let (before, behind) = (self.before(own), self.before(own + 1));
        let positions = (0..before).rev().chain((behind..self.len()).rev());
        positions.map(move |position| self.number(position))
    }
}

/// Returns the steps of a ring in which the rank at place `me` sends or gets a chunk with elements.
/// Steps count from 0 to the number of ranks minus two. In step s the rank sends chunk `me - s` and
/// gets chunk `me - s - 1`. Chunks without elements are left out, so a short block takes few steps.
pub(super) fn ring_steps(rank: &Rank<'_>, block: Buf, me: u32) -> Vec<u32> {
    let ranks = rank.ranks();
    let (count, total) = (block.size() / rank.width(), u64::from(ranks));
    if 2 * count >= total {
        return (0..ranks - 1).collect();
    }
    let filled = Filled::new(rank, block, ranks);
    let mut steps: Vec<u32> = (0..filled.len())
        .flat_map(|position| {
            let sent = (u64::from(me) + total - u64::from(filled.number(position))) % total;
            [sent, (sent + total - 1) % total]
        })
        .filter(|&step| step < total - 1)
        .map(|step| step as u32)
        .collect();
    steps.sort_unstable();
    steps.dedup();
    steps
}
