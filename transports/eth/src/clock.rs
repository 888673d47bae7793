//! The clock of a job, which is the same in all of its processes.

use rustix::time::{ClockId, clock_gettime};

/// Returns the time of the monotonic clock in nanoseconds.
#[inline]
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
