//! Shares the work of a large operation among the ranks of a node.
#![allow(unsafe_code)] // tasks have contracts

use crate::memory::Span;
use crate::ops::{self, DivisionByZero};
use goal_lang::{Datatype, Op};
use std::ops::Range;

/// The size in bytes from which on an engine shares an operation with idle ranks.
pub(crate) const SHARED_MIN: u64 = 128 << 10;

/// An operation `C = A op B` that any rank may take chunks of; copies are `B = A`.
#[derive(Debug, Clone, Copy)]
pub struct SharedTask {
    /// The operation and the type of its elements.
    pub function: (Op, Datatype),
    /// The operands A, B and C, each with the rank whose memory it lies in. They have the same
    /// number of whole elements. Two operands are the same bytes or have none in common.
    pub operands: [(u32, Span); 3],
    /// The bytes of the whole operation that come before the operands. They serve to number
    /// elements within the whole operation.
    pub before: u64,
}

impl SharedTask {
    /// Does the operation on a part of the operands: whole elements. If an element was divided by
    /// zero, returns the number of the first one in the whole operation.
    ///
    /// # Safety
    /// The contract of [`Region::new`](crate::memory::Region::new) holds for the operands' memory.
    /// During the call, no other code accesses the part of the result or writes the parts of the
    /// inputs.
    ///
    /// # Panics
    /// If the operands are not what [`SharedTask::operands`] says, or the part is not inside.
    pub unsafe fn run(&self, part: Range<usize>) -> Option<u64> {
        let Self { function: (op, datatype), operands, before } = *self;
        let first = before + part.start as u64;
        let [a, b, c] = operands.map(|(_, operand)| operand.part(part.clone()));
        let divided = ops::apply(op, datatype, a, b, c).err();
        divided.map(|DivisionByZero { element }| first / datatype.width() + element)
    }
}

/// Ranks that do chunks of each other's operations while they wait. The engine opens a task, does
/// chunks of it in each poll like the other ranks, and ends it when all chunks are done.
pub trait Workers {
    /// Returns true if some rank may be waiting for work. This is only a hint.
    fn is_wanted(&self) -> bool;

    /// Clears the hint. Called after a task in which no other rank took part.
    fn forget_wanted(&self);

    /// Offers the chunks of a task to other ranks. Returns the task's number and the number of its
    /// chunks. Returns `None` if the others can't access an operand, or if there is no room for
    /// another task.
    ///
    /// # Safety
    /// Other threads and processes read and write the operands from now on. This lasts until
    /// [`end`](Self::end) has returned `Some` for this task. Until then, the contract of
    /// [`Region::new`](crate::memory::Region::new) must hold for the operands' memory. Only chunks
    /// of this task may access the result or write the inputs.
    unsafe fn open(&self, task: &SharedTask) -> Option<(u32, u32)>;

    /// Does one chunk of a task. Returns false if none is left to take.
    fn work(&self, task: u32) -> bool;

    /// Ends a task if all of its chunks are done, and returns `Some` with the first element that
    /// was divided by zero, if there was one. Returns `None` if other ranks still work on chunks.
    ///
    /// # Safety
    /// This rank opened the task and has not ended it: another task may have its number from then
    /// on.
    unsafe fn end(&self, task: u32) -> Option<Option<u64>>;
}
