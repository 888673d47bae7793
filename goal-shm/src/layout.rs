//! Where everything lies in the segment. Launcher and ranks compute the same layout from the same
//! sizes.

use super::mailbox::{Control, Slot};
use super::pair::Ends;
use super::pool::Entry;
use super::status::Status;
use super::tasks::{self, TASKS};
use std::fmt;
use std::ops::Range;

/// Granularity of the areas: pages, so that an area that is never touched costs nothing.
const PAGE: u64 = 4096;
/// Bytes of all mailboxes together that are aimed at, and slots of one.
const MAILBOXES_BYTES: u64 = 64 << 20;
const SLOTS_MIN: u64 = 64;
const SLOTS_MAX: u64 = 512;
/// Bytes of all rings together that are aimed at, and of one.
const RINGS_BYTES: u64 = 64 << 20;
const RING_BYTES_MIN: u64 = 4 << 10;
const RING_BYTES_MAX: u64 = 64 << 10;
/// Rings for each rank that there are at least.
const RINGS_PER_RANK_MIN: u64 = 2;
/// Bytes of a mailbox's control words and of a slot, of an entry of a table, of what the ends of a
/// ring remember.
const MAILBOX_CONTROL: u64 = size_of::<Control>() as u64;
const SLOT: u64 = size_of::<Slot>() as u64;
const ENTRY: u64 = size_of::<Entry>() as u64;
const RING_ENDS: u64 = size_of::<Ends>() as u64;
/// Bytes of a rank's queue of messages to itself.
pub const LOCAL_BYTES: usize = 64 << 10;
/// Bytes of a rank's failure record.
pub(super) const FAILURE_BYTES: usize = 4096;

/// What one rank needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RankSizes {
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of scratch memory.
    pub scratch: u64,
    /// Bytes for the state of a running instance: counters, bitmap of finished actions.
    pub instance: u64,
    /// Bytes for the record of what matched what; 0 where none is kept.
    pub matches: u64,
    /// Bytes for the record of what happened when; 0 where none is kept.
    pub trace: u64,
    /// Bytes for what its engine remembers, where others act for it; 0 otherwise. Address space,
    /// which counts towards no limit.
    pub engine: u64,
}

/// Where a rank's areas begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankLayout {
    /// Its [`Status`](super::Status).
    pub status: usize,
    /// What it counted: its [`RankCounts`](super::RankCounts).
    pub counts: usize,
    /// Its failure record.
    pub failure: usize,
    /// Its mailbox: control words, then slots.
    pub mailbox: usize,
    /// Its queue of messages to itself.
    pub local: Range<usize>,
    /// Its table of rings: an entry for each rank.
    pub table: usize,
    /// Its memory.
    pub memory: Range<usize>,
    /// Its scratch memory.
    pub scratch: Range<usize>,
    /// The state of its running instance.
    pub instance: Range<usize>,
    /// The record of what matched what.
    pub matches: Range<usize>,
    /// The record of what happened when.
    pub trace: Range<usize>,
    /// Whose [`Turn`](super::Turn) it is to act for it.
    pub turn: usize,
    /// What its engine remembers, where others act for it.
    pub engine: Range<usize>,
}

/// Where the rings of all pairs lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RingsLayout {
    /// Number of rings.
    pub rings: usize,
    /// The word that counts those handed out.
    pub pool: usize,
    /// What the ends of each ring remember.
    pub ends: usize,
    /// The bytes of all rings, an equal power of two for each.
    pub bytes: Range<usize>,
}

/// Where everything lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Each rank's areas. The gate lies at offset 0.
    pub ranks: Vec<RankLayout>,
    /// Slots of every mailbox, a power of two.
    pub slots: usize,
    /// The rings of all pairs.
    pub rings: RingsLayout,
    /// Operations that several ranks work on: control words, then slots.
    pub tasks: usize,
    /// Bytes in all.
    pub len: usize,
}

/// A program needs a larger segment than allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentTooLarge {
    /// Bytes needed; `None` above 2^64.
    pub needed: Option<u64>,
    /// Bytes allowed.
    pub limit: u64,
}

impl fmt::Display for SegmentTooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.needed {
            Some(needed) => write!(f, "the ranks together need {needed} bytes of shared memory")?,
            None => write!(f, "the ranks together need more than 2^64 bytes of shared memory")?,
        }
        write!(f, ", the limit is {} (--max-segment raises it)", self.limit)
    }
}

impl std::error::Error for SegmentTooLarge {}

impl Layout {
    /// The layout for ranks of these sizes.
    ///
    /// # Errors
    /// [`SegmentTooLarge`] above `limit` bytes.
    pub fn new(
        sizes: impl ExactSizeIterator<Item = RankSizes>,
        limit: u64,
    ) -> Result<Self, SegmentTooLarge> {
        let ranks = sizes.len() as u64;
        let slots = (MAILBOXES_BYTES / SLOT / ranks.max(1)).clamp(SLOTS_MIN, SLOTS_MAX);
        let slots = 1 << slots.ilog2();
        // Where all pairs can have one, they are as large as that allows.
        let ring = (RINGS_BYTES / (ranks * ranks).max(1)).clamp(RING_BYTES_MIN, RING_BYTES_MAX);
        let ring = 1 << ring.ilog2();
        let rings = (RINGS_BYTES / ring).min(ranks * ranks).max(RINGS_PER_RANK_MIN * ranks);
        let mut end = Some(PAGE);
        // Above 2^64 no area matters any more: the whole is refused.
        let mut area = |bytes: u64| -> Range<usize> {
            let start = end.unwrap_or(0);
            let past = end.and_then(|end| end.checked_add(bytes));
            end = past.and_then(|past| past.checked_next_multiple_of(PAGE));
            start as usize..past.unwrap_or(start) as usize
        };
        let mut layouts = Vec::new();
        let mut unlimited = 0u64;
        for rank in sizes {
            unlimited = unlimited.saturating_add(rank.engine.next_multiple_of(PAGE));
            let status = area(PAGE).start;
            layouts.push(RankLayout {
                status,
                counts: status + size_of::<Status>(),
                failure: area(FAILURE_BYTES as u64).start,
                mailbox: area(MAILBOX_CONTROL + slots * SLOT).start,
                local: area(LOCAL_BYTES as u64),
                table: area(ranks * ENTRY).start,
                memory: area(rank.memory),
                scratch: area(rank.scratch),
                instance: area(rank.instance),
                matches: area(rank.matches),
                trace: area(rank.trace),
                turn: area(PAGE).start,
                engine: area(rank.engine),
            });
        }
        let rings = RingsLayout {
            rings: rings as usize,
            pool: area(PAGE).start,
            ends: area(rings * RING_ENDS).start,
            bytes: area(rings * ring),
        };
        let tasks =
            area((size_of::<tasks::Control>() + TASKS * size_of::<tasks::Slot>()) as u64).start;
        match end {
            Some(len) if len - unlimited <= limit => {
                Ok(Self { ranks: layouts, slots: slots as usize, rings, tasks, len: len as usize })
            }
            needed => {
                Err(SegmentTooLarge { needed: needed.map(|needed| needed - unlimited), limit })
            }
        }
    }
}
