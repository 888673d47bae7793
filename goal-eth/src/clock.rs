//! The clock of a job, the same in all of its processes.

use rustix::time::{ClockId, clock_gettime};

/// The monotonic clock in nanoseconds.
#[inline]
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
