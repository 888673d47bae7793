//! Sets the time between two looks of a launcher at the ranks of its host.
//!
//! A look takes a processor from a rank, and a collective of all ranks waits for the rank that is
//! delayed. So a launcher looks less often as the job grows older. Its sleep ends early when a
//! child ends, a signal comes, or another host sends a message. In a job on one host, a rank that
//! finishes or fails ends it too. Only looks find the rest: finished ranks in a job on several
//! hosts, the end of the time, a job that is stuck, and stopped ranks.

use goal_shm::Segment;
use std::time::{Duration, Instant};

/// The least and the most time between two looks, without [`TICK_PER_RANK`].
pub(super) const TICK: Duration = Duration::from_millis(5);
const TICK_MAX: Duration = Duration::from_millis(50);

/// The time that is added for each rank, since a look at many ranks takes longer.
const TICK_PER_RANK: Duration = Duration::from_micros(20);

/// The time between two looks is the age of the job divided by this number.
const PART: u32 = 100;

/// Tells the launcher when to look at its ranks next.
pub(super) struct Pace {
    since: Instant,
}

impl Pace {
    /// Returns the pace of a job that begins. A job that grows begins anew, as more requests may
    /// follow.
    pub(super) fn new() -> Self {
        Self { since: Instant::now() }
    }

    /// Returns the time until the next look.
    pub(super) fn tick(&self, segment: &Segment) -> Duration {
        // After a loss, ranks wait for a look that begins the next generation.
        let age =
            if segment.start_barrier().is_broken() { Duration::ZERO } else { self.since.elapsed() };
        at_age(age) + TICK_PER_RANK * segment.num_ranks()
    }
}

fn at_age(age: Duration) -> Duration {
    (age / PART).clamp(TICK, TICK_MAX)
}

#[cfg(test)]
mod tests {
    use super::at_age;
    use std::time::Duration;

    #[test]
    fn old_jobs_are_looked_at_less_often() {
        let ticks = [0, 400, 1000, 5000, 1 << 40].map(|ms| at_age(Duration::from_millis(ms)));
        assert_eq!(ticks.map(|tick| tick.as_millis()), [5, 5, 10, 50, 50]);
    }
}
