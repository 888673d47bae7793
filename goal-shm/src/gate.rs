//! The gate that all ranks start behind, and where the launcher waits for all to be through.
#![allow(unsafe_code)] // only `unsafe impl SharedWords`

use super::mapping::SharedWords;
use super::sleepers::Sleepers;
use super::sync::{AtomicU32, AtomicU64, Futex, Ordering};
use std::time::Duration;

/// Where ranks wait until all are ready, and where the launcher waits for all to be through.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Gate {
    ready: AtomicU32,
    /// A futex: [`CLOSED`], [`OPEN`] or [`STOPPED`].
    position: Futex,
    /// Ranks whose instances have all ended: a futex that the launcher sleeps in.
    finished: Futex,
    /// The monotonic clock in nanoseconds when the last rank was ready.
    pub opened_ns: AtomicU64,
    /// Ranks that sleep, of those that act for each other.
    pub sleepers: Sleepers,
}

const CLOSED: u32 = 0;
const OPEN: u32 = 1;
const STOPPED: u32 = 2;

// SAFETY: repr(C), atomics only, aligned to 64.
unsafe impl SharedWords for Gate {}

impl Gate {
    /// Waits until `ranks` ranks are here; the last one opens the gate and notes the time `now_ns`.
    /// False if the job was stopped instead.
    pub fn pass(&self, ranks: u32, now_ns: impl Fn() -> u64) -> bool {
        if self.ready.fetch_add(1, Ordering::SeqCst) + 1 == ranks {
            self.opened_ns.store(now_ns(), Ordering::SeqCst);
            self.turn(CLOSED, OPEN);
        }
        loop {
            match self.position.load(Ordering::SeqCst) {
                CLOSED => {
                    // It may wake early; the loop looks again.
                    self.position.wait(CLOSED, None);
                }
                position => return position == OPEN,
            }
        }
    }

    /// How many are here.
    pub fn ready(&self) -> u32 {
        self.ready.load(Ordering::SeqCst)
    }

    /// Whether all ranks have started.
    pub fn is_open(&self) -> bool {
        self.position.load(Ordering::SeqCst) == OPEN
    }

    /// Tells all ranks to return: the job has ended. Ranks that sleep elsewhere are to be woken
    /// there.
    pub fn stop(&self) {
        self.turn(CLOSED, STOPPED);
        self.turn(OPEN, STOPPED);
    }

    /// Whether the job has ended.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.position.load(Ordering::Relaxed) == STOPPED
    }

    fn turn(&self, from: u32, to: u32) {
        if self.position.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            self.position.wake();
        }
    }

    /// A rank's instances have all ended, and all it had to send has left.
    pub fn finish(&self, ranks: u32) {
        if self.finished.fetch_add(1, Ordering::SeqCst) + 1 == ranks {
            self.call_launcher();
        }
    }

    /// Number of ranks that have finished.
    pub fn finished(&self) -> u32 {
        self.finished.load(Ordering::SeqCst)
    }

    /// Wakes the launcher if it sleeps.
    pub fn call_launcher(&self) {
        self.finished.wake();
    }

    /// Sleeps until `limit` has passed, or less: the last rank to finish ends it, and so does
    /// [`Gate::call_launcher`].
    pub fn wait_finished(&self, ranks: u32, limit: Duration) {
        let finished = self.finished();
        if finished < ranks {
            self.finished.wait(finished, Some(limit));
        }
    }
}
