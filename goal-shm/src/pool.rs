//! The rings of all pairs. A pair gets one with its first message that needs it, so memory follows
//! the pairs that talk.
//!
//! ```text
//! pool    | handed out u32 |
//! ends    128 bytes a ring
//! bytes   a ring's lines, ring after ring
//! ```
//!
//! Pages are touched only with the rings in them. Each rank has a table with the number of its ring
//! to each other rank, in the segment too; its pages are touched only where it has one. Rings are
//! never given back.

use super::mailbox::SHORT_MAX;
use super::mapping::SharedWords;
use super::pair::{Ends, Ring};
use super::sync::{AtomicU32, Bytes, LINE, Line, Ordering};

/// How many rings were handed out.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Pool(Line<AtomicU32>);

/// A ring's number in a rank's table: 0 before the first message, [`NONE`], or the ring's number
/// and 1.
#[derive(Debug, Default)]
#[repr(transparent)]
pub(super) struct Entry(AtomicU32);

/// There is no ring for this pair.
const NONE: u32 = u32::MAX;

/// A message takes at most this part of its ring: parts of a long one are written while others are
/// read, which is the faster the smaller they are, until the work that each part makes counts.
const PARTS: usize = 8;

/// All rings.
#[derive(Clone, Copy)]
pub(super) struct Rings<'a> {
    pool: &'a Pool,
    ends: &'a [Ends],
    bytes: Bytes<'a>,
    /// Lines of each.
    lines: usize,
}

impl<'a> Rings<'a> {
    /// As many rings as there are `ends`, which share the bytes evenly.
    pub(super) fn new(pool: &'a Pool, ends: &'a [Ends], bytes: Bytes<'a>) -> Self {
        let lines = bytes.lines() / ends.len();
        assert!(lines.is_power_of_two() && lines >= PARTS);
        Self { pool, ends, bytes, lines }
    }

    /// The ring with this number.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub(super) fn ring(&self, number: u32) -> Ring<'a> {
        let number = number as usize;
        Ring::new(&self.ends[number], self.bytes.part(number * self.lines, self.lines))
    }

    /// Number of the ring of the pair that `entry` belongs to; a new one the first time. `None` if
    /// they are used up.
    #[inline]
    pub(super) fn number(&self, entry: &Entry) -> Option<u32> {
        match entry.0.load(Ordering::Relaxed) {
            0 => self.allot(entry),
            NONE => None,
            number => Some(number - 1),
        }
    }

    #[cold]
    fn allot(&self, entry: &Entry) -> Option<u32> {
        let rings = self.ends.len() as u32;
        let next = &self.pool.0.0;
        let one_more = |handed_out: u32| (handed_out < rings).then(|| handed_out + 1);
        let number = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).ok();
        entry.0.store(number.map_or(NONE, |number| number + 1), Ordering::Relaxed);
        number
    }

    /// Most bytes of a message's payload between the pair that `entry` belongs to.
    #[inline]
    pub(super) fn payload_max(&self, entry: &Entry) -> usize {
        if self.number(entry).is_some() { self.lines / PARTS * LINE } else { SHORT_MAX }
    }
}

#[allow(unsafe_code)]
// SAFETY: repr(C), atomics only, aligned to 64.
unsafe impl SharedWords for Pool {}
#[allow(unsafe_code)]
// SAFETY: an atomic.
unsafe impl SharedWords for Entry {}
