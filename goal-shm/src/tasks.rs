//! Large operations that ranks with nothing to do take chunks of.
#![allow(unsafe_code)] // `unsafe impl SharedWords`; descriptions are read only by owners of a chunk

use super::mapping::SharedWords;
use super::sync::{AtomicU32, AtomicU64, Line, Ordering, Shared};
use std::ops::Range;

/// Tasks of a node that there is room for at a time; what comes then is nobody's but its rank's.
pub(super) const TASKS: usize = 64;

/// Bytes of a chunk: enough that to claim it takes a small part of the time, few enough that a
/// message to whoever works on it waits for some microseconds.
const CHUNK: u64 = 64 << 10;

/// What is computed for each element: `C = A op B`, where copies are `B = A`. Operands lie in
/// memory or scratch memory of ranks, and are the same bytes or have none in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Task {
    /// Codes of the operation and of the datatype.
    pub function: [u32; 2],
    /// The ranks whose memory A, B and C lie in.
    pub ranks: [u32; 3],
    /// Where these begin in the segment.
    pub operands: [u64; 3],
    /// Bytes of the whole operation that come before, for the numbers of elements.
    pub before: u64,
    /// Bytes of each, whole elements.
    pub bytes: u64,
}

impl Task {
    /// Number of chunks.
    pub fn chunks(&self) -> u32 {
        self.bytes.div_ceil(CHUNK) as u32
    }
}

/// A part of a task, which nobody else has.
#[derive(Debug)]
#[must_use = "its task ends only when it is done"]
pub struct Chunk {
    /// What is to be done.
    pub task: Task,
    number: usize,
    index: u32,
}

impl Chunk {
    /// The bytes of each operand.
    pub fn bytes(&self) -> Range<usize> {
        let start = u64::from(self.index) * CHUNK;
        start as usize..(start + CHUNK).min(self.task.bytes) as usize
    }
}

/// Which tasks there are.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Control {
    /// A bit for each task of which a chunk may be left: all that those look at who wait.
    open: Line<AtomicU64>,
    /// A bit for each task that has not ended.
    used: Line<AtomicU64>,
    /// 1 while it may be that somebody waits: a hint, set by those who wait and taken back after a
    /// task that nobody had a part in. So an operation that nobody would help with is no task at
    /// all.
    wanted: Line<AtomicU32>,
}

/// Room for a task.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Slot {
    /// Chunks that nobody has taken: the number of the first one, and that behind the last one in
    /// the lower half. A task is known by nothing else to those who take a chunk: whichever task it
    /// is when their exchange succeeds, the chunk is theirs, and the task can't end before they are
    /// done with it. So it does no harm if a task makes way for another one between look and
    /// exchange.
    left: AtomicU64,
    /// The first element that was divided by zero.
    divided: AtomicU64,
    /// Chunks that are not done.
    undone: AtomicU32,
    task: Line<Shared<Task>>,
}

/// [`Slot::divided`] of none.
const NONE: u64 = u64::MAX;

// SAFETY: repr(C), atomics only, aligned to 64.
unsafe impl SharedWords for Control {}
// SAFETY: repr(C), atomics and integers in cells, aligned to 64.
unsafe impl SharedWords for Slot {}

/// The tasks of a node.
#[derive(Debug, Clone, Copy)]
pub struct Tasks<'a> {
    control: &'a Control,
    slots: &'a [Slot],
}

impl<'a> Tasks<'a> {
    pub(super) fn new(control: &'a Control, slots: &'a [Slot]) -> Self {
        Self { control, slots }
    }

    /// Somebody has waited for a while.
    #[inline]
    pub fn set_wanted(&self) {
        let wanted = &self.control.wanted.0;
        if wanted.load(Ordering::Relaxed) == 0 {
            wanted.store(1, Ordering::Relaxed);
        }
    }

    /// Whether there may be somebody to take chunks.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.control.wanted.0.load(Ordering::Relaxed) != 0
    }

    /// Nobody had a part in a task.
    pub fn forget_wanted(&self) {
        self.control.wanted.0.store(0, Ordering::Relaxed);
    }

    /// Lets others take chunks of a task, which has at least one; its number, with which its owner
    /// ends it. `None` if there is no room.
    pub fn open(&self, task: Task) -> Option<usize> {
        let Control { open, used, .. } = self.control;
        let mut taken = used.0.load(Ordering::Relaxed);
        let number = loop {
            let number = taken.trailing_ones() as usize;
            if number >= self.slots.len() {
                return None;
            }
            // What the task before did with the slot comes before this.
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
        // SAFETY: the slot is this task's alone, and nobody has a chunk of it.
        unsafe { slot.task.0.with_mut(|place| *place = task) };
        slot.divided.store(NONE, Ordering::Relaxed);
        slot.undone.store(task.chunks(), Ordering::Relaxed);
        // Before the chunks are there: whoever takes the last one clears the bit.
        open.0.fetch_or(1 << number, Ordering::Relaxed);
        slot.left.store(task.chunks().into(), Ordering::Release);
        Some(number)
    }

    /// A chunk of any task, for a rank that waits.
    #[inline]
    pub fn find(&self, rank: u32) -> Option<Chunk> {
        let open = self.control.open.0.load(Ordering::Relaxed);
        if open == 0 { None } else { self.find_in(open, rank) }
    }

    #[cold]
    fn find_in(&self, open: u64, rank: u32) -> Option<Chunk> {
        // Ranks begin with different ones.
        let turned = open.rotate_right(rank);
        let mut numbers = (0..u64::BITS).filter(|&bit| turned >> bit & 1 == 1);
        numbers.find_map(|bit| self.take((bit.wrapping_add(rank) % u64::BITS) as usize, rank))
    }

    /// A chunk of a task. Ranks with even numbers take them from the beginning on, others from the
    /// end: so two who often work together find in their caches what they had the last time.
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
            // The description was written before.
            match slot.left.compare_exchange(left, rest, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => {
                    if first + 1 == past {
                        self.control.open.0.fetch_and(!(1 << number), Ordering::Relaxed);
                    }
                    // SAFETY: the description stays while a chunk is not done.
                    let task = unsafe { slot.task.0.with(|task| *task) };
                    return Some(Chunk { task, number, index });
                }
                Err(now) => left = now,
            }
        }
    }

    /// A chunk is done; `divided` names the first element of the task that was found to be divided
    /// by zero.
    pub fn done(&self, chunk: Chunk, divided: Option<u64>) {
        let slot = &self.slots[chunk.number];
        if let Some(element) = divided {
            slot.divided.fetch_min(element, Ordering::Relaxed);
        }
        slot.undone.fetch_sub(1, Ordering::Release);
    }

    /// Ends a task if all of it is done: `Some` with the first element that was divided by zero, if
    /// there was one.
    pub fn end(&self, number: usize) -> Option<Option<u64>> {
        let slot = &self.slots[number];
        // What the others did comes before this.
        if slot.undone.load(Ordering::Acquire) != 0 {
            return None;
        }
        let divided = slot.divided.load(Ordering::Relaxed);
        self.control.used.0.fetch_and(!(1 << number), Ordering::Release);
        Some((divided != NONE).then_some(divided))
    }
}
