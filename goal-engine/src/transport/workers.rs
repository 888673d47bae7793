//! Large operations that several ranks of a node work on.
#![allow(unsafe_code)] // `SharedTask::run` has a contract

use crate::memory::Span;
use crate::ops::{self, DivisionByZero};
use goal_lang::{Datatype, Op};
use std::ops::Range;

/// An operation `C = A op B` that any rank may take chunks of; copies are `B = A`.
#[derive(Debug, Clone, Copy)]
pub struct SharedTask {
    /// The operation and the type of its elements.
    pub function: (Op, Datatype),
    /// A, B and C, each with the rank whose memory it lies in: whole elements, all of one size.
    /// Two of them are the same bytes or have none in common.
    pub operands: [(u32, Span); 3],
    /// Bytes of the whole operation that come before, for the numbers of elements.
    pub before: u64,
}

impl SharedTask {
    /// Does the operation on a part of the operands: whole elements. Returns the first element of
    /// the whole operation that was divided by zero, if there is one.
    ///
    /// # Safety
    /// The contract of [`Region::new`](crate::memory::Region::new) holds for the operands' memory.
    /// During the call nobody else reaches the part of the result, or writes the parts of the
    /// others.
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
/// chunks of it poll by poll like everybody else, and ends it when all are done.
pub trait Workers {
    /// Returns true if some rank may be waiting for work. A hint: it may be wrong either way.
    fn is_wanted(&self) -> bool;

    /// Takes the hint back, after a task that no other rank had a part in.
    fn forget_wanted(&self);

    /// Lets others take chunks of a task. Returns its number and how many chunks it has; `None` if
    /// the others can't reach an operand, or there is no room for another task.
    fn open(&self, task: &SharedTask) -> Option<(u32, u32)>;

    /// Does one chunk of a task. Returns false if none is left to take.
    fn work(&self, task: u32) -> bool;

    /// Ends a task if all of its chunks are done: `Some` with the first element that was divided by
    /// zero, if there was one. `None` if chunks are still with others.
    fn end(&self, task: u32) -> Option<Option<u64>>;
}
