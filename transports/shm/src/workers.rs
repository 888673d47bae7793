//! Lets the ranks of a node work on each other's large operations: the engine's `Workers` over the
//! tasks in the segment.
#![allow(unsafe_code)] // runs chunks on the memory of other ranks

use super::segment::Segment;
use goal_engine::transport::{SharedTask, Workers};
use goal_lang::{Datatype, Op};
use goal_sync::tasks::{Chunk, Task};

/// The access of rank `rank` to the tasks that the ranks of its node share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node<'a> {
    pub(crate) segment: &'a Segment,
    pub(crate) rank: u32,
}

impl Workers for Node<'_> {
    fn is_wanted(&self) -> bool {
        self.segment.tasks().is_wanted()
    }

    fn forget_wanted(&self) {
        self.segment.tasks().forget_wanted();
    }

    unsafe fn open(&self, task: &SharedTask) -> Option<(u32, u32)> {
        let SharedTask { function: (op, datatype), operands, before } = *task;
        let places = operands.map(|(_, operand)| self.segment.place_of(operand));
        let [Some(a), Some(b), Some(c)] = places else { return None };
        let task = Task {
            function: [op as u32, datatype as u32],
            ranks: operands.map(|(rank, _)| rank),
            operands: [a, b, c],
            before,
            bytes: operands[0].1.len() as u64,
        };
        Some((self.segment.tasks().open(task)? as u32, task.chunks()))
    }

    fn work(&self, task: u32) -> bool {
        let chunk = self.segment.tasks().take(task as usize, self.rank);
        chunk.map(|chunk| work(self.segment, chunk)).is_some()
    }

    unsafe fn end(&self, task: u32) -> Option<Option<u64>> {
        self.segment.tasks().end(task as usize)
    }
}

impl Segment {
    /// Does one chunk of another rank's operation. A rank calls this while it has nothing else to
    /// do. Returns false if there is no such chunk. If the rank `has_waited` for a while, it also
    /// tells the other ranks that it is idle. So they open tasks.
    #[inline]
    pub fn help(&self, rank: u32, has_waited: bool) -> bool {
        let tasks = self.tasks();
        match tasks.find(rank) {
            Some(chunk) => {
                work(self, chunk);
                true
            }
            None => {
                if has_waited {
                    tasks.set_wanted();
                }
                false
            }
        }
    }
}

/// Does a chunk and marks it as done.
fn work(segment: &Segment, chunk: Chunk) {
    let Task { function, ranks, operands, before, bytes } = chunk.task;
    let operands = [0, 1, 2].map(|operand| {
        let span = segment.bytes_at(ranks[operand], operands[operand], bytes);
        (ranks[operand], span.expect("memory of a rank"))
    });
    let [op, datatype] = function.map(|code| code as u8);
    let function = Op::from_code(op).zip(Datatype::from_code(datatype));
    let task = SharedTask { function: function.expect("a function's codes"), operands, before };
    // SAFETY: the operands lie in the memory of ranks, in a live segment. A chunk has one holder,
    // so nobody else writes this part of the result. Other code leaves the operands alone until the
    // task ends, by the contract of `Workers::open`.
    let divided = unsafe { task.run(chunk.bytes()) };
    // SAFETY: the chunk comes from this segment, and its work has been done.
    unsafe { segment.tasks().finish(chunk, divided) };
}
