//! Computes the offset of each area in the segment. The launcher and the ranks compute the same
//! layout from the same sizes.

use super::counts::RankCounts;
use super::populate;
use super::starts::Starts;
use super::status::Status;
use goal_sync::board;
use goal_sync::directory::{self, SETS};
use goal_sync::helpers::{self, Marks};
use goal_sync::mailbox::{Control, Slot};
use goal_sync::pool::Entry;
use goal_sync::ring::Ends;
use goal_sync::tasks::{self, TASKS};
use goal_sync::turn::Turn;
use std::fmt;
use std::ops::Range;

/// The granularity of areas in bytes. Each area begins a page, so an area that is never touched
/// takes no memory.
const PAGE: u64 = populate::PAGE as u64;
/// The size of a huge page in bytes. An area of at least this size begins at a multiple of it, so
/// that it can be in huge pages.
const HUGE_PAGE: u64 = populate::HUGE_PAGE as u64;
/// The target for the bytes of all mailboxes together.
const MAILBOXES_BYTES: u64 = 64 << 20;
/// The least number of slots of a mailbox.
const SLOTS_MIN: u64 = 64;
/// The largest number of slots of a mailbox.
const SLOTS_MAX: u64 = 512;
/// The target for the bytes of all rings together.
const RINGS_BYTES: u64 = 64 << 20;
/// The smallest value, in bytes, that a job may set as the largest size of a ring between two
/// ranks; a power of two.
pub const RING_BYTES_MIN: u64 = 4 << 10;
/// The largest value, in bytes, that a job may set as the largest size of a ring between two ranks;
/// a power of two.
pub const RING_BYTES_MAX: u64 = 1 << 20;
/// The largest size of a ring between two ranks by default, in bytes.
pub const RING_BYTES: u64 = 1 << 20;
/// The least number of rings per rank.
const RINGS_PER_RANK_MIN: u64 = 2;
/// The bytes of a mailbox's control words.
const MAILBOX_CONTROL: u64 = size_of::<Control>() as u64;
/// The bytes of a mailbox's slot.
const SLOT: u64 = size_of::<Slot>() as u64;
/// The bytes of an entry of a rank's table of rings.
const ENTRY: u64 = size_of::<Entry>() as u64;
/// The bytes of the state of a ring's two ends.
const RING_ENDS: u64 = size_of::<Ends>() as u64;
/// The number of ranks that have boards. They are the first ranks of the job.
pub const BOARD_RANKS: u32 = 64;
/// The distance of a rank's boards in bytes. They count towards no limit, because most are never
/// touched.
pub(crate) const BOARD: u64 = (size_of::<board::Words>() as u64).next_multiple_of(PAGE);
/// The bytes of the directory of boards. They count towards no limit, because most are never
/// touched.
const DIRECTORY: u64 = size_of::<directory::Words>() as u64;
/// The number of bitmaps of ranks.
const BITMAPS: usize = 4;
/// The bytes of a rank's queue of messages to itself.
pub(crate) const LOCAL_BYTES: usize = 64 << 10;
/// The bytes of a rank's failure record.
pub(crate) const FAILURE_BYTES: usize = 3072;
/// The most bytes of the text in which a rank says what it waits for. The text lies behind the
/// failure record.
pub(crate) const WAITS_BYTES: usize = 1024;

/// The distance from a rank's status to the table of its collectives' starts, in bytes. Status,
/// counters and this table lie in one page, in this order.
const STARTS_AT: usize =
    (size_of::<Status>() + size_of::<RankCounts>()).next_multiple_of(align_of::<Starts>());
const _: () = assert!(STARTS_AT + size_of::<Starts>() <= PAGE as usize);

/// The sizes of one rank's areas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RankSizes {
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of scratch memory.
    pub scratch: u64,
    /// Bytes for the state of a running instance: counters and a bitmap of finished actions.
    pub instance: u64,
    /// Bytes for the record of matches; 0 if none is kept.
    pub matches: u64,
    /// Bytes for the trace; 0 if none is kept.
    pub trace: u64,
    /// Bytes for the state of the rank's engine if other ranks act for the rank; 0 otherwise. They
    /// count towards no limit, because little of this address space is ever touched.
    pub engine: u64,
}

/// The offsets of a rank's areas in the segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankLayout {
    /// The offset of the rank's [`Status`].
    pub(crate) status: usize,
    /// The offset of the rank's [`RankCounts`](super::RankCounts).
    pub(crate) counts: usize,
    /// The offset of the table of the rank's collectives and their starts.
    pub(crate) starts: usize,
    /// The offset of the rank's failure record.
    pub(crate) failure: usize,
    /// The offset of the rank's mailbox: control words, then slots.
    pub(crate) mailbox: usize,
    /// The rank's queue of messages to itself.
    pub(crate) local: Range<usize>,
    /// The offset of the rank's table of rings, which has an entry for each rank.
    pub(crate) table: usize,
    /// The rank's boards, on which it writes messages to several ranks. Ranks from [`BOARD_RANKS`]
    /// on have none.
    pub(crate) boards: Range<usize>,
    /// The offset of the rank's [`Turn`](super::Turn).
    pub(crate) turn: usize,
    /// The rank's memory.
    pub memory: Range<usize>,
    /// The rank's scratch memory.
    pub scratch: Range<usize>,
    /// The state of the rank's running instance.
    pub instance: Range<usize>,
    /// The record of the rank's matches of messages and receives.
    pub matches: Range<usize>,
    /// The rank's trace.
    pub trace: Range<usize>,
    /// The state of the rank's engine; empty unless other ranks act for the rank.
    pub engine: Range<usize>,
}

/// The offsets of the rings, which carry payloads between pairs of ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RingsLayout {
    /// The number of rings.
    pub(crate) rings: usize,
    /// The offset of the word that counts the rings allotted to pairs.
    pub(crate) pool: usize,
    /// The offset of the array with the state of both ends of each ring.
    pub(crate) ends: usize,
    /// The bytes of all rings. All rings have the same size, a power of two.
    pub(crate) bytes: Range<usize>,
}

/// The offsets of all areas of a segment. Areas don't overlap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Each rank's areas. The [start barrier](super::StartBarrier) lies at offset 0.
    pub(crate) ranks: Vec<RankLayout>,
    /// The number of slots of every mailbox, a power of two.
    pub(crate) slots: usize,
    /// The offsets of the rings between pairs of ranks.
    pub(crate) rings: RingsLayout,
    /// The offset of the tasks, which are operations that several ranks work on: control words,
    /// then slots.
    pub(crate) tasks: usize,
    /// The offset of four bitmaps of ranks. The first holds ranks in need of help, the second
    /// sleeping ranks that may help, and the third napping ranks. The fourth holds those of the
    /// third that wait for room.
    pub(crate) helpers: usize,
    /// The offset of the directory of the boards of communicators.
    pub(crate) directory: usize,
    /// The number of ranks at the start of the job. The other ranks may be added later.
    pub(crate) started: usize,
    /// The bytes of the segment.
    pub(crate) len: usize,
}

/// The error that a program needs a larger segment than allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentTooLarge {
    /// The bytes needed; `None` above 2^64.
    pub needed: Option<u64>,
    /// The bytes allowed.
    pub limit: u64,
}

impl fmt::Display for SegmentTooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.needed {
            Some(needed) => write!(f, "the ranks together need {needed} bytes of shared memory")?,
            None => write!(f, "the ranks together need more than 2^64 bytes of shared memory")?,
        }
        write!(f, ", the limit is {}", self.limit)
    }
}

impl std::error::Error for SegmentTooLarge {}

impl Layout {
    /// Returns the layout for ranks of these sizes, with rings of at most [`RING_BYTES`] bytes.
    ///
    /// # Errors
    /// [`SegmentTooLarge`] if it needs more than `limit` bytes.
    pub fn new(
        sizes: impl ExactSizeIterator<Item = RankSizes>,
        limit: u64,
    ) -> Result<Self, SegmentTooLarge> {
        Self::with_rings(sizes, RING_BYTES, limit)
    }

    /// Returns the layout for ranks of these sizes, with rings of at most `ring_bytes` bytes. This
    /// number is limited to [`RING_BYTES_MIN`] to [`RING_BYTES_MAX`], and rounded down to a power
    /// of two. Rings are smaller in a job of many ranks, so that all of them together don't take
    /// much memory.
    ///
    /// # Errors
    /// [`SegmentTooLarge`] if it needs more than `limit` bytes.
    pub fn with_rings(
        sizes: impl ExactSizeIterator<Item = RankSizes>,
        ring_bytes: u64,
        limit: u64,
    ) -> Result<Self, SegmentTooLarge> {
        let started = sizes.len();
        Self::with_reserve(sizes, started, ring_bytes, limit)
    }

    /// Returns the layout for a job that starts with `started` of these ranks and may grow to all
    /// of them. Rings are as in [`Layout::with_rings`]. Ranks that may join later make mailboxes
    /// and rings no smaller. Nobody touches the areas of these ranks before they join, so they
    /// count towards no limit.
    ///
    /// # Errors
    /// [`SegmentTooLarge`] if it needs more than `limit` bytes.
    pub fn with_reserve(
        sizes: impl ExactSizeIterator<Item = RankSizes>,
        started: usize,
        ring_bytes: u64,
        limit: u64,
    ) -> Result<Self, SegmentTooLarge> {
        let ring_bytes = ring_bytes.clamp(RING_BYTES_MIN, RING_BYTES_MAX);
        let ranks = sizes.len() as u64;
        let started = started.min(sizes.len());
        let first = started as u64;
        let slots = (MAILBOXES_BYTES / SLOT / first.max(1)).clamp(SLOTS_MIN, SLOTS_MAX);
        let slots = 1 << slots.ilog2();
        // Rings are as large as they can be if all pairs have one within the target.
        let ring = (RINGS_BYTES / (first * first).max(1)).clamp(RING_BYTES_MIN, ring_bytes);
        let ring = 1 << ring.ilog2();
        let rings_of =
            |ranks: u64| (RINGS_BYTES / ring).min(ranks * ranks).max(RINGS_PER_RANK_MIN * ranks);
        let rings = rings_of(ranks);
        let mut end = Some(PAGE);
        // Above 2^64 the places no longer matter, because the whole layout is refused.
        let mut area = |bytes: u64| -> Range<usize> {
            if bytes >= HUGE_PAGE {
                end = end.and_then(|end| end.checked_next_multiple_of(HUGE_PAGE));
            }
            let start = end.unwrap_or(0);
            let past = end.and_then(|end| end.checked_add(bytes));
            end = past.and_then(|past| past.checked_next_multiple_of(PAGE));
            start as usize..past.unwrap_or(start) as usize
        };
        // Each rank reads the turns and bitmaps of all ranks, so they lie together. Pages that are
        // far apart would need page tables of their own in each process.
        let turns = area(ranks * size_of::<Turn>() as u64).start;
        let bitmap = helpers::lines(ranks as usize) * size_of::<Marks>();
        let helpers = area((BITMAPS * bitmap) as u64).start;
        let directory = area(DIRECTORY).start;
        let mut layouts: Vec<RankLayout> = Vec::new();
        let mut unlimited = (rings - rings_of(first)) * (ring + RING_ENDS);
        unlimited += DIRECTORY.next_multiple_of(PAGE);
        for rank in sizes {
            let sets = if layouts.len() < BOARD_RANKS as usize { SETS as u64 } else { 0 };
            let status = area(PAGE).start;
            layouts.push(RankLayout {
                status,
                counts: status + size_of::<Status>(),
                starts: status + STARTS_AT,
                failure: area((FAILURE_BYTES + WAITS_BYTES) as u64).start,
                mailbox: area(MAILBOX_CONTROL + slots * SLOT).start,
                local: area(LOCAL_BYTES as u64),
                table: area(ranks * ENTRY).start,
                boards: in_small_pages(&mut area, sets * BOARD),
                memory: area(rank.memory),
                scratch: area(rank.scratch),
                instance: area(rank.instance),
                matches: area(rank.matches),
                trace: area(rank.trace),
                turn: turns + layouts.len() * size_of::<Turn>(),
                engine: area(rank.engine),
            });
            let own = layouts.last().expect("it has just been added");
            let free = match layouts.len() > started {
                // All areas of an added rank, from its status to the end of its last area.
                true => (own.engine.end - status) as u64,
                false => rank.engine.next_multiple_of(PAGE).saturating_add(sets * BOARD),
            };
            unlimited = unlimited.saturating_add(free.next_multiple_of(PAGE));
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
            Some(len) if len.saturating_sub(unlimited) <= limit => Ok(Self {
                ranks: layouts,
                slots: slots as usize,
                rings,
                tasks,
                helpers,
                directory,
                started,
                len: len as usize,
            }),
            needed => Err(SegmentTooLarge {
                needed: needed.map(|needed| needed.saturating_sub(unlimited)),
                limit,
            }),
        }
    }

    /// Returns the areas of messages and tasks, of the bitmaps by which ranks help and wake others,
    /// and of the directory of boards. Each area begins a page, and nothing else lies in its last
    /// page.
    pub(crate) fn messages(&self) -> impl Iterator<Item = Range<usize>> {
        let ranks = self.ranks.len();
        let area = |start: usize, bytes: usize| start..start + bytes;
        let mailbox = size_of::<Control>() + self.slots * size_of::<Slot>();
        let of_ranks = self.ranks.iter().flat_map(move |rank| {
            let table = area(rank.table, ranks * size_of::<Entry>());
            [area(rank.mailbox, mailbox), rank.local.clone(), table, rank.boards.clone()]
        });
        let RingsLayout { rings, pool, ends, ref bytes } = self.rings;
        let bitmap = helpers::lines(ranks) * size_of::<Marks>();
        let tasks = size_of::<tasks::Control>() + TASKS * size_of::<tasks::Slot>();
        let shared = [
            area(pool, PAGE as usize),
            area(ends, rings * size_of::<Ends>()),
            bytes.clone(),
            area(self.tasks, tasks),
            area(self.helpers, BITMAPS * bitmap),
            area(self.directory, DIRECTORY as usize),
        ];
        of_ranks.chain(shared).filter(|area| !area.is_empty())
    }

    /// Returns the pages of the ranks that may be added after the start of the job; `None` if ranks
    /// can't be added.
    pub(crate) fn reserve(&self) -> Option<Range<usize>> {
        let (first, last) = (self.ranks.get(self.started)?, self.ranks.last()?);
        Some(first.status..last.engine.end.next_multiple_of(PAGE as usize))
    }

    /// Returns the bytes of the segment.
    #[expect(clippy::len_without_is_empty, reason = "a layout has at least the gate")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the layout with fewer slots in each mailbox, and fewer and smaller rings. Tests use
    /// it to make mailboxes and rings wrap and fill up often.
    ///
    /// # Panics
    /// If a number is larger than before, or if `slots` or `ring_bytes` is not a power of two.
    #[must_use]
    pub fn shrunk(mut self, slots: usize, rings: usize, ring_bytes: usize) -> Self {
        assert!(slots.is_power_of_two() && slots <= self.slots);
        assert!(ring_bytes.is_power_of_two() && rings <= self.rings.rings);
        assert!(rings * ring_bytes <= self.rings.bytes.len());
        self.slots = slots;
        self.rings.rings = rings;
        self.rings.bytes.end = self.rings.bytes.start + rings * ring_bytes;
        self
    }
}

/// Returns an area of whole pages that does not begin a huge page, by calls of `area`. Most of its
/// pages are never touched, and a huge page would make many of them resident at once.
fn in_small_pages(area: &mut impl FnMut(u64) -> Range<usize>, bytes: u64) -> Range<usize> {
    const PART: u64 = HUGE_PAGE - PAGE;
    let (mut all, mut left) = (area(0), bytes);
    while left > 0 {
        let part = left.min(PART);
        all.end = area(part).end;
        left -= part;
    }
    all
}
