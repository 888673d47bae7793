//! Owners of the parts of ranks within a process.
//!
//! A rank's end of its messages and its memory have one user at a time. Ranks that are processes
//! have them to themselves; these claims keep two parts of one process from using the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A part of a rank that has one owner at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Its end of the job: its engine and its messages.
    Member = 0,
    /// The memory that its schedules work on, and their counters.
    Memory = 1,
}

const PARTS: usize = 2;

/// A flag for each part of each rank: set while it has an owner.
#[derive(Debug)]
pub(super) struct Claims(Arc<[AtomicBool]>);

impl Claims {
    pub(super) fn new(ranks: usize) -> Self {
        Self((0..PARTS * ranks).map(|_| AtomicBool::new(false)).collect())
    }

    /// See [`Segment::claim`](super::Segment::claim).
    pub(super) fn claim(&self, rank: u32, part: Part) -> Option<Claim> {
        let index = PARTS * rank as usize + part as usize;
        // Acquire: pairs with the store in `drop`. The new owner sees all that the last one did.
        let was_claimed = self.0[index].swap(true, Ordering::Acquire);
        (!was_claimed).then(|| Claim { claims: Arc::clone(&self.0), index })
    }
}

/// The right to use a part of a rank, until it is dropped.
#[derive(Debug)]
pub struct Claim {
    claims: Arc<[AtomicBool]>,
    index: usize,
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.claims[self.index].store(false, Ordering::Release);
    }
}
