//! The pool of rings. A pair of ranks gets a ring with the first message that needs one, so memory
//! grows with the number of pairs that talk.
//!
//! ```text
//! pool    | allotted u32 |
//! ends    128 bytes per ring
//! bytes   the lines of each ring, ring after ring
//! ```
//!
//! Each rank has a table in the segment with the number of its ring to each other rank. The system
//! allocates the pages of rings and tables when they are first touched. Rings are never returned to
//! the pool.
#![allow(unsafe_code)] // only `unsafe impl SharedWords`

use super::mailbox::SHORT_MAX;
use super::ring::{Ends, Ring};
use super::shared_words::SharedWords;
use super::sync::{AtomicU32, Bytes, LINE, Line, Ordering};

/// The number of rings that have been allotted to pairs.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Pool(Line<AtomicU32>);

// SAFETY: repr(C), atomics only, aligned to 64.
unsafe impl SharedWords for Pool {}

/// An entry of a rank's table: 0 before the first message that needs a ring, then the number of the
/// ring plus 1, or `u32::MAX` if the pool was used up.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Entry(AtomicU32);

// SAFETY: an atomic.
unsafe impl SharedWords for Entry {}

/// The entry of a pair that asked for a ring when the pool was used up.
const NONE: u32 = u32::MAX;

/// The number of parts of a ring. A message takes at most one part. The receiver reads one part of
/// a long message while the sender writes the next. Smaller parts overlap better, until the work
/// per part dominates.
const PARTS: usize = 8;

/// All rings of the segment.
#[derive(Clone, Copy)]
pub struct Rings<'a> {
    pool: &'a Pool,
    ends: &'a [Ends],
    bytes: Bytes<'a>,
    /// The number of lines of each ring.
    lines: usize,
}

impl<'a> Rings<'a> {
    /// Creates a view with one ring for each of `ends`. The rings share `bytes` evenly.
    ///
    /// # Panics
    /// If the lines of a ring are fewer than 8, or no power of two.
    #[inline]
    pub fn new(pool: &'a Pool, ends: &'a [Ends], bytes: Bytes<'a>) -> Self {
        let lines = bytes.lines() / ends.len();
        assert!(lines.is_power_of_two() && lines >= PARTS);
        Self { pool, ends, bytes, lines }
    }

    /// Returns the ring with this number.
    ///
    /// # Panics
    /// If there is no such ring.
    #[inline]
    pub(crate) fn ring(&self, number: u32) -> Ring<'a> {
        let number = number as usize;
        Ring::new(&self.ends[number], self.bytes.part(number * self.lines, self.lines))
    }

    /// Returns the number of the ring of the pair that `entry` belongs to. The first call for a
    /// pair allots a ring. Returns `None` if the pool was used up at that call.
    #[inline]
    pub(crate) fn number(&self, entry: &Entry) -> Option<u32> {
        match entry.0.load(Ordering::Relaxed) {
            0 => self.allot(entry),
            NONE => None,
            number => Some(number - 1),
        }
    }

    #[cold]
    fn allot(&self, entry: &Entry) -> Option<u32> {
        let rings = self.ends.len() as u32;
        let one_more = |allotted: u32| (allotted < rings).then(|| allotted + 1);
        // Relaxed: a new ring is all zeros, and the receiver learns its number from the mailbox.
        let allotted =
            self.pool.0.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).ok();
        entry.0.store(allotted.map_or(NONE, |number| number + 1), Ordering::Relaxed);
        allotted
    }

    /// Returns the size in bytes of the ring of the pair that `entry` belongs to; 0 if the pair has
    /// no ring.
    #[inline]
    pub(crate) fn ring_bytes(&self, entry: &Entry) -> usize {
        if self.number(entry).is_some() { self.lines * LINE } else { 0 }
    }

    /// Returns the most bytes of payload in one message of the pair that `entry` belongs to.
    #[inline]
    pub(crate) fn payload_max(&self, entry: &Entry) -> usize {
        if self.number(entry).is_some() { self.lines / PARTS * LINE } else { SHORT_MAX }
    }
}
