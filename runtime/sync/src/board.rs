//! A rank's board, on which it writes messages that all other ranks of a communicator can read.
//!
//! A mailbox has many senders and one receiver. A board has one writer, its owner, and any number
//! of readers. Its messages need no matching: all ranks of the communicator count the lines of
//! their messages alike. So a reader knows the position of a message, and looks at one word there.
//!
//! ```text
//! control  line 0 | consumed, short u64 | consumed, long u64 |        the owner, as a reader
//! short    64 lines of cells, then 64 lines of data
//! long     16384 lines of cells, then 16384 lines of data
//!
//! cell     | word u64 | payload of at most 56 bytes |
//! word     bits 16.. the position plus 1
//!          bits 0..16 a signature of the message, never 0
//! ```
//!
//! **Places.** A message of at most 56 bytes lies in one cell. The bytes of a longer one lie in the
//! lines of data at its position, and its word in the cell at its position. So no payload ever lies
//! where a reader looks for a word. A message never wraps: see [`Ring::fit`].
//!
//! **Room.** A message at a position overwrites what lay one lap before. So its writer first looks
//! up to which position each reader has consumed. Readers tell this on their own boards, and
//! seldom.
//!
//! Threat: a process that an attacker controls may write anything to its board. The lengths of
//! messages come from the reader. A wrong word only makes the reader miss its message, or see one
//! too early.
#![allow(unsafe_code)] // cells that the writer and the readers access in turn

use super::shared_words::SharedWords;
use super::sync::{AtomicU64, Block, LINE, Lent, Line, Ordering, SharedCell};
use std::ops::Range;

/// The most bytes of payload in a cell.
pub const INLINE_MAX: usize = LINE - size_of::<u64>();

/// The number of lines of the short ring, and of the long ring. Models have small rings.
const SHORT: usize = if cfg!(loom) { 4 } else { 64 };
const LONG: usize = if cfg!(loom) { 8 } else { 16384 };

/// The most lines of a schedule that uses only a part of the long ring.
const FEW: u64 = if cfg!(loom) { 0 } else { 512 };

/// The lowest bit of the position in the word of a cell.
const POSITION_SHIFT: u32 = 16;

/// A ring of lines on a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ring {
    /// The ring for schedules of small messages, which stays in the nearest caches.
    Short = 0,
    /// The ring for schedules of larger messages.
    Long = 1,
}

impl Ring {
    /// Returns the number of lines of the ring, a power of two.
    #[inline(always)]
    pub const fn lines(self) -> u64 {
        match self {
            Self::Short => SHORT as u64,
            Self::Long => LONG as u64,
        }
    }

    /// Returns the position for `lines` lines whose predecessors end at `position`. This is
    /// `position` if they fit before the end of the ring, otherwise the start of the next lap.
    /// `lines` is at most [`Ring::lines`].
    ///
    /// A run of few lines fits only in the first quarter of the long ring. So small messages leave
    /// most of the second-level cache to the program. Large ones use the whole ring: a write is
    /// faster to a line that its reader's cache has lost.
    #[inline(always)]
    pub const fn fit(self, position: u64, lines: u64) -> u64 {
        let at = position & (self.lines() - 1);
        let end = match self {
            Self::Long if lines <= FEW => self.lines() / 4,
            _ => self.lines(),
        };
        if at + lines <= end { position } else { position + self.lines() - at }
    }
}

/// Returns the number of lines that a message of `bytes` bytes takes.
#[inline(always)]
pub const fn lines(bytes: usize) -> u64 {
    if bytes <= INLINE_MAX { 1 } else { bytes.div_ceil(LINE) as u64 }
}

/// Returns the word of the cell of a complete message. `signature` is not 0, so that an empty cell
/// has no message.
#[inline(always)]
pub const fn word(position: u64, signature: u16) -> u64 {
    position.wrapping_add(1) << POSITION_SHIFT | signature as u64
}

/// Returns true if the word of a cell is of a message at the position of the word `wanted`. The two
/// may have different signatures.
#[inline(always)]
pub const fn is_at(found: u64, wanted: u64) -> bool {
    (found ^ wanted) >> POSITION_SHIFT == 0 && found != 0
}

/// The result of a look at the position of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// The message has arrived.
    Arrived,
    /// The message has not arrived.
    Missing,
    /// A message with this other signature is at the position: the ranks do not agree.
    Other(u16),
}

/// The words of a board. A new board is all zeros.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Words {
    consumed: Line<[AtomicU64; 2]>,
    short: Lines<SHORT>,
    long: Lines<LONG>,
}

/// The lines of a ring.
#[derive(Debug)]
#[repr(C)]
struct Lines<const LINES: usize> {
    cells: [Cell; LINES],
    data: Block<LINES>,
}

impl<const LINES: usize> Default for Lines<LINES> {
    fn default() -> Self {
        Self { cells: std::array::from_fn(|_| Cell::default()), data: Block::default() }
    }
}

#[derive(Debug)]
#[repr(C, align(64))]
struct Cell {
    word: AtomicU64,
    payload: SharedCell<[u8; INLINE_MAX]>,
}

impl Default for Cell {
    fn default() -> Self {
        Self { word: AtomicU64::new(0), payload: SharedCell::new([0; INLINE_MAX]) }
    }
}

// SAFETY: repr(C), atomics, and bytes in cells that the atomics guard, aligned to 64.
unsafe impl SharedWords for Words {}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Words>() == LINE * (1 + 2 * SHORT + 2 * LONG));

/// The bytes at the begin of [`Words`] that small operations touch.
pub const SMALL_BYTES: usize = LINE * (1 + 2 * SHORT);

/// The parts of [`Words`] that all runs of few lines touch. They have all of the short ring, and
/// the first quarter of the long one.
pub const FEW_BYTES: [Range<usize>; 2] = {
    let (cells, few) = (SMALL_BYTES, LINE * LONG / 4);
    let data = cells + LINE * LONG;
    [0..cells + few, data..data + few]
};

/// A view of a board. It has the methods of the owner, of readers and of observers.
#[derive(Clone, Copy)]
pub struct Board<'a>(&'a Words);

impl<'a> Board<'a> {
    /// Creates a view over these words.
    #[inline(always)]
    pub fn new(words: &'a Words) -> Self {
        Self(words)
    }

    /// Writes a message at `position`. `fill` writes its `len` bytes in place. Readers see the
    /// message once `fill` has returned.
    ///
    /// # Safety
    /// The caller is the owner, in one thread at a time. The lines of the message do not wrap: see
    /// [`Ring::fit`]. No other message is written to them in this lap. All readers have
    /// [consumed](Board::consumed) what lies there from the lap before.
    #[inline(always)]
    pub unsafe fn put(
        &self,
        ring: Ring,
        position: u64,
        signature: u16,
        len: usize,
        fill: impl FnOnce(&mut [u8]),
    ) {
        debug_assert!(signature != 0 && (at(ring, position) as u64) + lines(len) <= ring.lines());
        let cell = self.cell(ring, position);
        // SAFETY: nobody reads these bytes before the word is stored, by the caller's promise, and
        // the caller is the only writer. They lie in the cell or do not wrap.
        unsafe {
            if len <= INLINE_MAX {
                cell.payload.with_mut(|payload| fill(payload.get_unchecked_mut(..len)));
            } else {
                match ring {
                    Ring::Short => self.0.short.data.with_mut(at(ring, position), len, fill),
                    Ring::Long => self.0.long.data.with_mut(at(ring, position), len, fill),
                }
            }
        }
        // Release: pairs with the Acquire loads of readers, which then see the whole payload.
        cell.word.store(word(position, signature), Ordering::Release);
    }

    /// Looks if the message at `position` has arrived.
    #[inline(always)]
    pub fn look(&self, ring: Ring, position: u64, signature: u16) -> Look {
        // Acquire: pairs with the Release store in `put`.
        let found = self.word_at(ring, position).load(Ordering::Acquire);
        if found == word(position, signature) { Look::Arrived } else { differs(found, position) }
    }

    /// Returns the `len` bytes of a message.
    ///
    /// # Safety
    /// [`Board::look`] has found the message, or the caller has put it. Its length is `len`. The
    /// owner does not overwrite it while the result is used: a reader has not told
    /// [consumed](Board::consume) beyond it.
    #[inline(always)]
    pub unsafe fn payload(&self, ring: Ring, position: u64, len: usize) -> Lent<'a> {
        // SAFETY: the caller's promise.
        unsafe {
            if len <= INLINE_MAX {
                self.cell(ring, position).payload.lend(len)
            } else {
                match ring {
                    Ring::Short => self.0.short.data.lend(at(ring, position), len),
                    Ring::Long => self.0.long.data.lend(at(ring, position), len),
                }
            }
        }
    }

    /// Returns the position below which the owner of this board, as a reader, has ended all its
    /// reads.
    #[inline(always)]
    pub fn consumed(&self, ring: Ring) -> u64 {
        // Acquire: pairs with the Release store in `consume`. The reads there happen before the
        // caller overwrites what was read.
        self.consumed_at(ring).load(Ordering::Acquire)
    }

    /// Returns the word that [`Board::consumed`] reads.
    #[inline(always)]
    pub fn consumed_at(&self, ring: Ring) -> &'a AtomicU64 {
        &self.0.consumed.0[ring as usize]
    }

    /// Tells writers that the owner of this board, as a reader, has ended all its reads below
    /// `position`.
    #[inline(always)]
    pub fn consume(&self, ring: Ring, position: u64) {
        // Release: pairs with the Acquire load in `consumed`.
        self.consumed_at(ring).store(position, Ordering::Release);
    }

    /// Returns the word of the cell at `position`. A reader may keep the reference and compare the
    /// word with [`word`], by an Acquire load.
    #[inline(always)]
    pub fn word_at(&self, ring: Ring, position: u64) -> &'a AtomicU64 {
        &self.cell(ring, position).word
    }

    #[inline(always)]
    fn cell(&self, ring: Ring, position: u64) -> &'a Cell {
        match ring {
            Ring::Short => &self.0.short.cells[at(ring, position)],
            Ring::Long => &self.0.long.cells[at(ring, position)],
        }
    }
}

/// Returns the line of a position in its ring.
#[inline(always)]
const fn at(ring: Ring, position: u64) -> usize {
    (position & (ring.lines() - 1)) as usize
}

/// Compares the word that a look has found with `position`. Returns the signature of another
/// message there, or [`Look::Missing`].
#[inline(always)]
const fn differs(found: u64, position: u64) -> Look {
    if is_at(found, word(position, 0)) { Look::Other(found as u16) } else { Look::Missing }
}
