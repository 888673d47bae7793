//! Claims that give each part of a rank one owner at a time within a process.
//!
//! A rank has two parts: its endpoint for messages, and its memory. A rank in a process of its own
//! shares them with nobody. If ranks are threads of one process, a claim keeps a second thread from
//! using the same part.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A part of a rank that has one owner at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The rank's end of the job: its engine and its messages.
    Member = 0,
    /// The memory that the rank's schedules work on, and the counters of these schedules.
    Memory = 1,
}

const PARTS: usize = 2;

/// One flag per part of each rank, set while the part has an owner.
#[derive(Debug)]
pub(crate) struct Claims(Arc<[AtomicBool]>);

impl Claims {
    pub(crate) fn new(ranks: usize) -> Self {
        Self((0..PARTS * ranks).map(|_| AtomicBool::new(false)).collect())
    }

    /// Claims a part of a rank, as [`Segment::claim`](super::Segment::claim) says. Returns `None`
    /// if the part has an owner.
    pub(crate) fn claim(&self, rank: u32, part: Part) -> Option<Claim> {
        let index = PARTS * rank as usize + part as usize;
        // Acquire: pairs with the Release store in `drop`. The new owner sees everything that the
        // previous owner did.
        let was_claimed = self.0[index].swap(true, Ordering::Acquire);
        (!was_claimed).then(|| Claim { claims: Arc::clone(&self.0), index })
    }
}

/// The right to use a part of a rank. Dropping it gives the right back.
#[derive(Debug)]
#[must_use = "a claim ends when it is dropped"]
pub struct Claim {
    claims: Arc<[AtomicBool]>,
    index: usize,
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Release: pairs with the swap in `Claims::claim`.
        self.claims[self.index].store(false, Ordering::Release);
    }
}
