//! A barrier of all ranks that leaves them within a cache line's way of each other: what is
//! measured begins behind it.
#![allow(unsafe_code)] // only `unsafe impl SharedWords`

use super::mapping::SharedWords;
use super::sync::{AtomicU32, Line, Ordering};

/// Where ranks meet, as often as they like.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Meeting {
    /// Ranks that are here.
    arrived: Line<AtomicU32>,
    /// Times that all have met.
    round: Line<AtomicU32>,
}

// SAFETY: repr(C), atomics only, aligned to 64.
unsafe impl SharedWords for Meeting {}

impl Meeting {
    /// Returns when all `ranks` ranks have called this. It calls `pause` between two looks.
    pub fn wait(&self, ranks: u32, mut pause: impl FnMut()) {
        let round = self.round.0.load(Ordering::SeqCst);
        if self.arrived.0.fetch_add(1, Ordering::SeqCst) + 1 == ranks {
            self.arrived.0.store(0, Ordering::SeqCst);
            self.round.0.store(round.wrapping_add(1), Ordering::SeqCst);
            return;
        }
        while self.round.0.load(Ordering::SeqCst) == round {
            pause();
        }
    }
}
