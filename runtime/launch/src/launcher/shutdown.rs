//! Ends jobs of programs: tells the ranks of the end, and collects their reports.

use goal_job::threads::sleep;
use goal_shm::Segment;
use std::time::{Duration, Instant};

/// The longest time for which a launcher waits for the reports of ranks.
const ASKED_LIMIT: Duration = Duration::from_secs(2);
/// The shortest and the longest time between two checks.
const LOOK_MIN: Duration = Duration::from_micros(100);
const LOOK_MAX: Duration = Duration::from_millis(5);

/// The end of a job of programs: all ranks have called `GOAL_Finalize`, and their processes exit.
#[derive(Debug, Default)]
pub(super) struct Drain {
    pause: Duration,
}

impl Drain {
    /// Lets go on ranks that wait at their end for all others, and sleeps for a while.
    pub(super) fn release(&mut self, segment: &Segment, ranks: &[u32]) {
        segment.start_barrier().stop();
        wake(segment, ranks);
        self.pause = (2 * self.pause).clamp(LOOK_MIN, LOOK_MAX);
        sleep(self.pause);
    }
}

/// Tells ranks that the job is stuck. Waits until each of them has written its report, for at most
/// [`ASKED_LIMIT`]. Ranks at their end write none.
pub(super) fn request_reports(segment: &Segment, ranks: &[u32]) {
    segment.start_barrier().stop_as_stuck();
    collect_reports(segment, ranks);
}

/// Tells ranks that the time is up. Waits until those in a wait have written their reports, for at
/// most [`ASKED_LIMIT`].
pub(super) fn request_late_reports(segment: &Segment, ranks: &[u32]) {
    let waits = |&&rank: &&u32| segment.status(rank).process_state.waits();
    let waiting: Vec<u32> = ranks.iter().filter(waits).copied().collect();
    segment.start_barrier().stop_as_late();
    collect_reports(segment, &waiting);
}

/// Asks ranks what they wait for. Waits until those in a wait have answered, for at most
/// [`ASKED_LIMIT`]. The job goes on. Returns the number of the question.
pub(super) fn request_texts(segment: &Segment, ranks: &[u32]) -> u32 {
    let question = segment.start_barrier().ask_texts();
    let since = Instant::now();
    let is_silent = |&rank: &u32| {
        let process_state = &segment.status(rank).process_state;
        !process_state.has_finalized() && process_state.told() != question
    };
    while ranks.iter().any(is_silent) && since.elapsed() < ASKED_LIMIT {
        wake(segment, ranks);
        sleep(LOOK_MIN);
    }
    question
}

fn collect_reports(segment: &Segment, ranks: &[u32]) {
    let since = Instant::now();
    let is_silent = |&rank: &u32| {
        !segment.status(rank).process_state.has_finalized() && segment.failure(rank).is_none()
    };
    while ranks.iter().any(is_silent) && since.elapsed() < ASKED_LIMIT {
        wake(segment, ranks);
        sleep(LOOK_MIN);
    }
}

/// Wakes ranks that sleep. A rank that is just about to sleep may miss this.
pub(super) fn wake(segment: &Segment, ranks: &[u32]) {
    for &rank in ranks {
        segment.mailbox(rank).wake();
    }
}
