//! Models of tasks: several ranks take chunks of them.
#![allow(unsafe_code)] // results of chunks

use super::{explore, shared};
use crate::sync::SharedCell;
use crate::tasks::{Chunk, Control, Slot, Task, Tasks};
use loom::thread;

/// The chunks of the larger task.
const CHUNKS: usize = 3;

/// A node with room for one task.
#[derive(Default)]
struct Node {
    control: Control,
    slots: [Slot; 1],
    /// The results of the two tasks, by chunk.
    results: [[SharedCell<u64>; CHUNKS]; 2],
}

fn task(number: u64, chunks: usize) -> Task {
    Task { operands: [number; 3], bytes: (chunks as u64) << 16, ..Task::default() }
}

impl Node {
    fn tasks(&self) -> Tasks<'_> {
        Tasks::new(&self.control, &self.slots)
    }

    fn work(&self, chunk: Chunk) {
        let index = chunk.bytes().start >> 16;
        let of_task = &self.results[chunk.task.operands[0] as usize];
        // SAFETY: loom compares all accesses.
        unsafe { of_task[index].with_mut(|result| *result += 1) };
        let divided = (index % 2 == 1).then_some(index as u64);
        // SAFETY: the chunk comes from these tasks, and its work is done.
        unsafe { self.tasks().finish(chunk, divided) };
    }

    /// Runs a task as its owner, `rank`, which does all chunks that no other rank takes.
    fn run(&self, number: u64, chunks: usize, rank: u32) {
        let slot = self.tasks().open(task(number, chunks)).expect("the task before has ended");
        while let Some(chunk) = self.tasks().take(slot, rank) {
            self.work(chunk);
        }
        let divided = loop {
            match self.tasks().end(slot) {
                Some(divided) => break divided,
                None => thread::yield_now(),
            }
        };
        assert_eq!(divided, (chunks > 1).then_some(1));
        for (index, result) in self.results[number as usize].iter().enumerate() {
            // SAFETY: as above.
            unsafe {
                result.with(|result| {
                    assert_eq!(*result, u64::from(index < chunks), "{number} {index}")
                })
            };
        }
    }
}

/// A second task replaces the first one in its slot while a helper takes chunks. The helper may
/// look at the first task and get a chunk of the second. Every chunk is done once, and the owner
/// sees all results.
#[test]
fn each_chunk_is_done_once() {
    explore("two tasks in one slot and a helper", Some(3), || {
        let node = shared(Node::default());
        let helper = {
            let node = node.clone();
            thread::spawn(move || {
                for _ in 0..2 {
                    if let Some(chunk) = node.tasks().find(1) {
                        node.work(chunk);
                    }
                }
            })
        };
        node.run(0, CHUNKS, 0);
        node.run(1, 1, 0);
        helper.join().unwrap();
        assert!(node.tasks().find(0).is_none());
    });
}

/// Two helpers take chunks from the same end.
#[test]
fn helpers_do_not_meet() {
    explore("a task and two helpers", Some(2), || {
        let node = shared(Node::default());
        let helpers = [1, 3].map(|rank| {
            let node = node.clone();
            thread::spawn(move || {
                if let Some(chunk) = node.tasks().find(rank) {
                    node.work(chunk);
                }
            })
        });
        node.run(0, CHUNKS, 0);
        for helper in helpers {
            helper.join().unwrap();
        }
        assert!(node.tasks().find(0).is_none());
    });
}

/// Two owners share one slot. An owner that finds it in use does without a task, and a slot can be
/// used again after its task has ended.
#[test]
fn two_owners_and_one_slot() {
    explore("two owners of tasks", Some(3), || {
        let node = shared(Node::default());
        let other = {
            let node = node.clone();
            thread::spawn(move || {
                if let Some(slot) = node.tasks().open(task(1, 1)) {
                    if let Some(chunk) = node.tasks().take(slot, 1) {
                        node.work(chunk);
                    }
                    while node.tasks().end(slot).is_none() {
                        thread::yield_now();
                    }
                }
            })
        };
        if let Some(slot) = node.tasks().open(task(0, 1)) {
            if let Some(chunk) = node.tasks().find(0) {
                node.work(chunk);
            }
            if let Some(chunk) = node.tasks().take(slot, 0) {
                node.work(chunk);
            }
            while node.tasks().end(slot).is_none() {
                thread::yield_now();
            }
        }
        other.join().unwrap();
        assert!(node.tasks().find(0).is_none());
    });
}
