//! When the processors or one side of the interfaces of all ranks are free.
//!
//! The numbers of processors come from the program, which may name processor 65535 in a rank alone.
//! So a table of all numbers of all ranks is made only if it is about as large as the program.

use crate::workload::Workload;
use rustc_hash::FxHashMap;
use std::ops::{Index, IndexMut};

/// The entries that a table may have beyond four for each action.
const SLACK: usize = 1 << 16;

/// By rank and number, the time at which it is free: 0 at first.
pub(super) enum Busy {
    Dense { width: usize, times: Vec<u64> },
    Sparse { ranks: usize, times: FxHashMap<(u32, u16), u64> },
}

impl Busy {
    /// Creates the times of `width` processors or interfaces a rank.
    pub(super) fn new(workload: &Workload, width: usize) -> Self {
        let ranks = workload.num_ranks();
        match ranks.saturating_mul(width) {
            entries if entries <= 4 * workload.len() + SLACK => {
                Busy::Dense { width, times: vec![0; entries] }
            }
            _ => Busy::Sparse { ranks, times: FxHashMap::default() },
        }
    }

    /// Returns the latest time of each rank.
    pub(super) fn latest(&self) -> Vec<u64> {
        match self {
            Busy::Dense { width, times } => times
                .chunks(*width)
                .map(|times| times.iter().copied().max().unwrap_or_default())
                .collect(),
            Busy::Sparse { ranks, times } => {
                let mut latest = vec![0; *ranks];
                for (&(rank, _), &time) in times {
                    let known: &mut u64 = &mut latest[rank as usize];
                    *known = time.max(*known);
                }
                latest
            }
        }
    }
}

impl Index<(u32, u16)> for Busy {
    type Output = u64;

    #[inline]
    fn index(&self, (rank, number): (u32, u16)) -> &u64 {
        match self {
            Busy::Dense { width, times } => &times[rank as usize * width + usize::from(number)],
            Busy::Sparse { times, .. } => times.get(&(rank, number)).unwrap_or(&0),
        }
    }
}

impl IndexMut<(u32, u16)> for Busy {
    #[inline]
    fn index_mut(&mut self, (rank, number): (u32, u16)) -> &mut u64 {
        match self {
            Busy::Dense { width, times } => {
                &mut times[rank as usize * *width + usize::from(number)]
            }
            Busy::Sparse { times, .. } => times.entry((rank, number)).or_default(),
        }
    }
}
