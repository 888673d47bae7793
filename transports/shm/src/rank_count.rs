//! The rank count of a job that grows, in shared memory. Only the launcher changes the count.
//! Before a rank asks for more ranks, it sets a flag beside the count. The launcher then opens the
//! socket for such requests.
//!
//! The layout of a segment has room for more ranks than there are at the start. Pages that nobody
//! touches take no memory. So one store to the count adds a rank, and messages need no flag for the
//! change. (T. Mehlan, T. Hoefler, F. Mietke and W. Rehm, "Concepts for Integrating SISCI into Open
//! MPI", section 4, make new segments, and tell all ranks by such a flag.)
#![allow(unsafe_code)] // only `unsafe impl SharedWords`

use goal_sync::SharedWords;
use goal_sync::start_barrier::StartBarrier;
use std::sync::atomic::{AtomicU32, Ordering};

/// The offset of the rank count in the segment: in the first page, behind the start barrier.
pub(crate) const RANK_COUNT_AT: usize = 2048;
const _: () = assert!(size_of::<StartBarrier>() <= RANK_COUNT_AT);

/// The rank count of a job, and flags about its growth.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct RankCount {
    /// The number of ranks, including ranks that have left: a rank's number is not used again.
    ranks: AtomicU32,
    /// 1 once ranks share processors because the job has grown.
    is_crowded: AtomicU32,
    /// The number of ranks that have left.
    left: AtomicU32,
    /// 1 once a rank wants to ask the launcher for more ranks.
    wants_growth: AtomicU32,
}

// SAFETY: repr(C), atomics only, aligned to 64.
unsafe impl SharedWords for RankCount {}

impl RankCount {
    /// Returns the number of ranks, including ranks that have left.
    pub(crate) fn ranks(&self) -> u32 {
        self.ranks.load(Ordering::SeqCst)
    }

    /// Sets the number of ranks. The launcher alone calls this.
    pub fn set_ranks(&self, ranks: u32) {
        self.ranks.store(ranks, Ordering::SeqCst);
    }

    /// States that ranks share processors from now on. The launcher alone calls this.
    pub fn crowd(&self) {
        self.is_crowded.store(1, Ordering::SeqCst);
    }

    /// Returns true if ranks share processors because the job has grown.
    pub fn is_crowded(&self) -> bool {
        self.is_crowded.load(Ordering::SeqCst) != 0
    }

    /// States that a rank is about to ask the launcher for more ranks.
    pub fn want_growth(&self) {
        self.wants_growth.store(1, Ordering::SeqCst);
    }

    /// Returns true if a rank has wanted to ask the launcher for more ranks.
    pub fn wants_growth(&self) -> bool {
        self.wants_growth.load(Ordering::SeqCst) != 0
    }

    /// Counts a rank that has left.
    pub fn count_left(&self) {
        self.left.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns true if a rank has left.
    #[inline]
    pub fn has_lost_some(&self) -> bool {
        self.left.load(Ordering::Relaxed) != 0
    }
}
