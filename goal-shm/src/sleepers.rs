//! Counts the ranks that sleep and act for others too: whoever leaves something to do for a rank
//! that is away wakes one of them.
//!
//! A sleeper counts itself, switches its bell on and then looks once more whether there is
//! something to do. Whoever leaves something to do looks at the count afterwards. Both write first
//! and then read what the other one wrote, in different words, so each needs a full fence in
//! between (Dekker): without one, a machine may let both reads overtake the writes, and the rank
//! sleeps while there is something to do. Processors with x86's order do so for a plain store only,
//! others for everything that is not fenced.

use super::sync::{AtomicU32, Ordering, fence};

/// The count of those that sleep or are about to.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Sleepers(AtomicU32);

impl Sleepers {
    /// A rank is about to sleep. It switches its bell on after this.
    pub fn enter(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// The rank's bell is on: what it sees from now on was there, or whoever brings it rings.
    pub fn fence(&self) {
        fence(Ordering::SeqCst);
    }

    /// The rank sleeps no longer.
    pub fn leave(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns true if somebody may sleep who has not seen what the caller did before.
    #[inline]
    pub fn any(&self) -> bool {
        fence(Ordering::SeqCst);
        self.0.load(Ordering::Relaxed) != 0
    }
}
