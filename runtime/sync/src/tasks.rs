//! Tasks: large operations in the segment that are divided into chunks. Idle ranks claim chunks and
//! do them.
#![allow(unsafe_code)] // `unsafe impl SharedWords`; only owners of a chunk read its description

use super::shared_words::SharedWords;
use super::sync::{AtomicU32, AtomicU64, Line, Ordering, SharedCell};
use std::ops::Range;

/// The most tasks of a node at a time. A rank does further operations alone.
pub const TASKS: usize = 64;

/// The size of a chunk in bytes. It is so large that claiming a chunk takes little time beside its
/// work. It is so small that a message to the working rank waits only some microseconds.
const CHUNK: u64 = 64 << 10;

/// The description of an operation `C = A op B`, or of a copy `B = A`. Each operand lies in the
/// memory or scratch memory of a rank. Two operands are the same bytes or have none in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Task {
    /// The codes of the operation and of the datatype.
    pub function: [u32; 2],
    /// The ranks whose memory A, B and C lie in.
    pub ranks: [u32; 3],
    /// The offsets of A, B and C in the segment.
    pub operands: [u64; 3],
    /// The number of bytes of the whole operation that precede this task. They serve to number its
    /// elements.
    pub before: u64,
    /// The size of each operand in bytes: a whole number of elements.
    pub bytes: u64,
}

impl Task {
    /// Returns the number of chunks of the task.
    #[inline]
    pub fn chunks(&self) -> u32 {
        self.bytes.div_ceil(CHUNK) as u32
    }
}

/// A claimed chunk of a task. Only the rank that holds this value works on the chunk.
#[derive(Debug)]
#[must_use = "the task ends only after `Tasks::finish` got all of its chunks"]
pub struct Chunk {
    /// The description of the whole task.
    pub task: Task,
    number: usize,
    index: u32,
}

impl Chunk {
    /// Returns the range of bytes of each operand that belongs to the chunk.
    #[inline]
    pub fn bytes(&self) -> Range<usize> {
        let start = u64::from(self.index) * CHUNK;
        start as usize..(start + CHUNK).min(self.task.bytes) as usize
    }
}

/// The words that all tasks share.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Control {
    /// One bit per task, set while the task may have unclaimed chunks. Idle ranks poll only this
    /// word.
    open: Line<AtomicU64>,
    /// One bit per slot, set while its task has not ended.
    used: Line<AtomicU64>,
    /// 1 while a rank may be idle. This is a hint: idle ranks set it, and an owner clears it after
    /// a task that no other rank took part in. While it is 0, an operation does not become a task.
    wanted: Line<AtomicU32>,
}

/// A slot for one task: its description and the state of its chunks.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Slot {
    /// The unclaimed chunks: the index of the first one in the upper half, and the index behind the
    /// last one in the lower half.
    ///
    /// A rank takes a chunk by a compare-exchange on this word. The chunk belongs to the task that
    /// the slot holds when the exchange succeeds, and that task can't end before the chunk is done.
    /// So it is harmless if one task replaces another between load and exchange.
    left: AtomicU64,
    /// The number of the first element that was divided by zero, or [`NONE`].
    divided: AtomicU64,
    /// The number of chunks that are not done.
    undone: AtomicU32,
    task: Line<SharedCell<Task>>,
}

/// [`Slot::divided`] if no element was divided by zero.
const NONE: u64 = u64::MAX;

// SAFETY: repr(C), atomics only, aligned to 64.
unsafe impl SharedWords for Control {}
// SAFETY: repr(C), atomics and integers in a cell that the atomics guard, aligned to 64.
unsafe impl SharedWords for Slot {}

/// A view of the tasks of a node.
#[derive(Debug, Clone, Copy)]
pub struct Tasks<'a> {
    control: &'a Control,
    slots: &'a [Slot],
}

impl<'a> Tasks<'a> {
    /// Creates a view over these words. `slots` has at most [`TASKS`] elements.
    #[inline]
    pub fn new(control: &'a Control, slots: &'a [Slot]) -> Self {
        Self { control, slots }
    }

    /// Sets the hint that a rank has been idle for a while, for owners that call
    /// [`Tasks::is_wanted`].
    #[inline]
    pub fn set_wanted(&self) {
        let wanted = &self.control.wanted.0;
        if wanted.load(Ordering::Relaxed) == 0 {
            wanted.store(1, Ordering::Relaxed);
        }
    }

    /// Returns true if a rank may be idle.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.control.wanted.0.load(Ordering::Relaxed) != 0
    }

    /// Clears the hint after a task that no other rank took part in.
    #[inline]
    pub fn forget_wanted(&self) {
        self.control.wanted.0.store(0, Ordering::Relaxed);
    }

    /// Offers the chunks of a task to other ranks. The task must have at least one chunk. Returns
    /// the number of its slot, for [`Tasks::end`]. Returns `None` if all slots are in use.
    pub fn open(&self, task: Task) -> Option<usize> {
        let Control { open, used, .. } = self.control;
        let mut taken = used.0.load(Ordering::Relaxed);
        let number = loop {
            let number = taken.trailing_ones() as usize;
            if number >= self.slots.len() {
                return None;
            }
            // Acquire: pairs with the Release `fetch_and` in `end`. All use of the slot by its last
            // task happens before this one.
            match used.0.compare_exchange(
                taken,
                taken | 1 << number,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => break number,
                Err(now) => taken = now,
            }
        };
        let slot = &self.slots[number];
        // SAFETY: the bit in `used` makes the caller the slot's only owner, and no chunk of the
        // slot's last task is pending.
        unsafe { slot.task.0.with_mut(|place| *place = task) };
        slot.divided.store(NONE, Ordering::Relaxed);
        slot.undone.store(task.chunks(), Ordering::Relaxed);
        // The bit is set before the chunks appear, because the rank that takes the last chunk
        // clears it.
        open.0.fetch_or(1 << number, Ordering::Relaxed);
        // Release: pairs with the Acquire exchange in `take`, which then reads the description.
        slot.left.store(task.chunks().into(), Ordering::Release);
        Some(number)
    }

    /// Takes a chunk of any open task for the idle rank `rank`. Returns `None` if there is none.
    #[inline]
    pub fn find(&self, rank: u32) -> Option<Chunk> {
        let open = self.control.open.0.load(Ordering::Relaxed);
        if open == 0 { None } else { self.find_in(open, rank) }
    }

    #[cold]
    fn find_in(&self, open: u64, rank: u32) -> Option<Chunk> {
        // Ranks start with different tasks.
        let turned = open.rotate_right(rank);
        let mut numbers = (0..u64::BITS).filter(|&bit| turned >> bit & 1 == 1);
        numbers.find_map(|bit| self.take((bit.wrapping_add(rank) % u64::BITS) as usize, rank))
    }

    /// Takes a chunk of the task in slot `number`. Returns `None` if none is left. Even ranks take
    /// chunks from the front and odd ranks from the back. So two ranks that often work together
    /// find the chunks of the last time in their caches.
    pub fn take(&self, number: usize, rank: u32) -> Option<Chunk> {
        let slot = &self.slots[number];
        let mut left = slot.left.load(Ordering::Relaxed);
        loop {
            let (first, past) = ((left >> 32) as u32, left as u32);
            if first == past {
                return None;
            }
            let (index, rest) = if rank.is_multiple_of(2) {
                (first, left + (1 << 32))
            } else {
                (past - 1, left - 1)
            };
            // Acquire: pairs with the Release store of `left` in `open`.
            match slot.left.compare_exchange(left, rest, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => {
                    if first + 1 == past {
                        self.control.open.0.fetch_and(!(1 << number), Ordering::Relaxed);
                    }
                    // SAFETY: the task can't end before this chunk is done, so nobody writes the
                    // description.
                    let task = unsafe { slot.task.0.with(|task| *task) };
                    return Some(Chunk { task, number, index });
                }
                Err(now) => left = now,
            }
        }
    }

    /// Marks a chunk as done. `divided` is the first element of the task that the chunk divided by
    /// zero.
    ///
    /// # Safety
    /// The chunk comes from these tasks, and all of its work has been done.
    #[inline]
    pub unsafe fn finish(&self, chunk: Chunk, divided: Option<u64>) {
        let slot = &self.slots[chunk.number];
        if let Some(element) = divided {
            slot.divided.fetch_min(element, Ordering::Relaxed);
        }
        // Release: pairs with the Acquire load in `end`. The owner sees the results of the chunk.
        slot.undone.fetch_sub(1, Ordering::Release);
    }

    /// Ends the task in slot `number` if all of its chunks are done; otherwise returns `None`. The
    /// inner value is the first element that was divided by zero, if there was one. Only the owner
    /// of the task calls this.
    #[inline]
    pub fn end(&self, number: usize) -> Option<Option<u64>> {
        let slot = &self.slots[number];
        // Acquire: pairs with the Release decrements in `finish`.
        if slot.undone.load(Ordering::Acquire) != 0 {
            return None;
        }
        let divided = slot.divided.load(Ordering::Relaxed);
        // Release: pairs with the Acquire exchange in `open`, which hands the slot to the next
        // task.
        self.control.used.0.fetch_and(!(1 << number), Ordering::Release);
        Some((divided != NONE).then_some(divided))
    }
}
