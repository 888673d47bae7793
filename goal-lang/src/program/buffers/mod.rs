//! Memory that is a table of buffers and not one region: the memory that programs have (ESPGOAL
//! 2.2.1, `void *buf`).
//!
//! A body whose memory is a table states the length of each buffer ([`Body::buffers`]). The upper
//! 16 bits of an address are then the number of a buffer, and the lower 48 bits an offset in it.
//! The table is bound to addresses of a process when an instance starts, so that one schedule runs
//! on other buffers without being compiled again.

use super::action::{Action, Payload, Piece, Space};
use super::body::Body;
use std::fmt;
use std::ops::Range;

/// The number of bits of an address that are an offset in a buffer.
pub const OFFSET_BITS: u32 = 48;
/// Most bytes of one buffer.
pub const BUFFER_BYTES_MAX: u64 = 1 << OFFSET_BITS;
/// Most buffers of a body.
pub const BUFFERS_MAX: usize = 1 << (u64::BITS - OFFSET_BITS);
/// The alignment of buffers in [`flat_offsets`], in bytes.
const ALIGN: u64 = 64;

/// Returns the address of the byte at `offset` in buffer number `buffer`.
pub const fn buffer_address(buffer: u16, offset: u64) -> u64 {
    (buffer as u64) << OFFSET_BITS | offset
}

/// Returns the number of the buffer that an address names, and the offset in it.
#[inline(always)]
pub const fn buffer_of(addr: u64) -> (usize, u64) {
    ((addr >> OFFSET_BITS) as usize, addr & (BUFFER_BYTES_MAX - 1))
}

/// Returns the place of each buffer in one region that holds all buffers one behind the other. Also
/// returns the bytes of that region. Returns `None` if these are 2^64 or more.
pub fn flat_offsets(lengths: impl IntoIterator<Item = u64>) -> Option<(Vec<u64>, u64)> {
    let (mut offsets, mut end) = (Vec::new(), 0u64);
    for length in lengths {
        let start = end.checked_next_multiple_of(ALIGN)?;
        offsets.push(start);
        end = start.checked_add(length)?;
    }
    Some((offsets, end))
}

/// The reason why declared buffers and the buffers of actions make no table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableError {
    /// Two declared buffers have bytes in common.
    Overlap {
        /// The numbers of the two declared buffers.
        declared: [usize; 2],
    },
    /// A buffer of an action lies partly inside and partly outside of a declared buffer.
    Straddles {
        /// The number of the declared buffer.
        declared: usize,
        /// The bytes that the action names.
        piece: Range<u64>,
    },
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overlap { declared: [a, b] } => {
                write!(f, "the declared buffers {a} and {b} have bytes in common")
            }
            Self::Straddles { declared, piece: Range { start, end } } => write!(
                f,
                "the {} bytes at {start:#x} lie only partly in the declared buffer {declared}",
                end - start
            ),
        }
    }
}

impl std::error::Error for TableError {}

impl Body {
    /// Turns a body whose addresses are those of a process into a body on a table of buffers.
    /// Returns the first address of each buffer. Each declared range becomes a buffer, in the order
    /// given. Further buffers follow, ascending, for the other bytes that actions name. Ranges that
    /// touch or overlap share a buffer. Above [`BUFFERS_MAX`] buffers, ranges with the smallest
    /// gaps between them are joined.
    ///
    /// # Errors
    /// [`TableError`]; the body is unchanged.
    pub fn make_table(&mut self, declared: &[Range<u64>]) -> Result<Vec<u64>, TableError> {
        let mut order: Vec<usize> = (0..declared.len()).collect();
        order.retain(|&number| !declared[number].is_empty());
        order.sort_by_key(|&number| declared[number].start);
        for pair in order.windows(2) {
            if declared[pair[1]].start < declared[pair[0]].end {
                return Err(TableError::Overlap { declared: [pair[0], pair[1]] });
            }
        }
        // Returns a declared buffer with a byte of the range, or `None`.
        let declared_at = |piece: &Range<u64>| {
            let next = order.partition_point(|&number| declared[number].end <= piece.start);
            order.get(next).copied().filter(|&number| declared[number].start < piece.end)
        };
        let (mut ranges, mut straddles) = (Vec::new(), None);
        for action in &self.actions {
            self.visit_pieces(action, |&Piece { addr, size, space }| {
                let piece = addr..addr.saturating_add(size);
                if space != Space::Memory || piece.is_empty() {
                    return;
                }
                match declared_at(&piece) {
                    None => ranges.push(piece),
                    Some(number) => {
                        let Range { start, end } = declared[number];
                        if piece.start < start || piece.end > end {
                            straddles = Some(TableError::Straddles { declared: number, piece });
                        }
                    }
                }
            });
        }
        if let Some(error) = straddles {
            return Err(error);
        }
        let joined = join(ranges, BUFFERS_MAX - declared.len().min(BUFFERS_MAX - 1));
        self.relocate(|addr| {
            if let Some(number) = declared_at(&(addr..addr.saturating_add(1))) {
                return buffer_address(number as u16, addr - declared[number].start);
            }
            let next = joined.partition_point(|range| range.end <= addr);
            match joined.get(next).filter(|range| range.start <= addr) {
                Some(range) => buffer_address((declared.len() + next) as u16, addr - range.start),
                // The address belongs to a piece without bytes.
                None => 0,
            }
        });
        let all = declared.iter().chain(&joined);
        self.buffers = all.clone().map(|range| range.end.saturating_sub(range.start)).collect();
        Ok(all.map(|range| range.start).collect())
    }

    /// Returns the bytes of one region that holds all buffers, or `u64::MAX` if these are 2^64 or
    /// more. Returns 0 if the memory is no table of buffers.
    pub fn flat_size(&self) -> u64 {
        flat_offsets(self.buffers.iter().copied()).map_or(u64::MAX, |(_, end)| end)
    }

    /// Returns the same graph on one region of memory, in which the buffers lie as in
    /// [`flat_offsets`].
    ///
    /// # Panics
    /// If an address names a buffer that is not in the table, or all of them together have more
    /// than 2^64 bytes.
    pub fn flattened(mut self) -> Self {
        let (offsets, _) = flat_offsets(std::mem::take(&mut self.buffers)).expect("below 2^64");
        if !offsets.is_empty() {
            self.relocate(|addr| {
                let (buffer, offset) = buffer_of(addr);
                offsets[buffer] + offset
            });
        }
        self
    }

    /// Replaces every address in memory by what `moved` returns for it. Addresses in scratch memory
    /// stay.
    pub fn relocate(&mut self, mut moved: impl FnMut(u64) -> u64) {
        let mut place = |addr: &mut u64, space: Space| {
            if space == Space::Memory {
                *addr = moved(*addr);
            }
        };
        for action in &mut self.actions {
            match action {
                Action::Send { payload, .. } | Action::Recv { payload, .. } => {
                    if let Payload::Buffer(piece) = payload {
                        place(&mut piece.addr, piece.space);
                    }
                }
                Action::Exec { spaces, has_c, a, b, c, .. } => {
                    place(a, spaces[0]);
                    place(b, spaces[1]);
                    if *has_c {
                        place(c, spaces[2]);
                    }
                }
                Action::Wtime { addr, space } => place(addr, *space),
                Action::Calc { .. }
                | Action::ExecVector { .. }
                | Action::User { .. }
                | Action::Nop
                | Action::Marker { .. } => {}
            }
        }
        for piece in &mut self.pieces {
            place(&mut piece.addr, piece.space);
        }
    }
}

/// Joins ranges that touch or overlap. Then joins ranges with the smallest gaps between them until
/// at most `most` are left. Returns the ranges ascending.
fn join(mut ranges: Vec<Range<u64>>, most: usize) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    if joined.len() <= most {
        return joined;
    }
    let gap = |pair: &[Range<u64>]| pair[1].start - pair[0].end;
    let mut gaps: Vec<u64> = joined.windows(2).map(gap).collect();
    // The gaps that stay are the `most - 1` largest; of equal ones the first.
    let least = *gaps.select_nth_unstable_by(most - 1, |a, b| b.cmp(a)).1;
    let mut left = most - 1 - gaps[..most - 1].iter().filter(|&&gap| gap > least).count();
    let mut fewer: Vec<Range<u64>> = Vec::new();
    for range in joined {
        match fewer.last_mut() {
            Some(last) => {
                let gap = range.start - last.end;
                let stays = gap > least || gap == least && left > 0;
                left -= usize::from(gap == least && stays);
                if stays { fewer.push(range) } else { last.end = range.end }
            }
            None => fewer.push(range),
        }
    }
    fewer
}

#[cfg(test)]
mod tests;
