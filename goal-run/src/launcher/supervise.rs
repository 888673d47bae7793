//! Watches over the ranks until the job ends.

use super::options::Options;
use super::outcome::End;
use crate::monitor::{Pending, Watch};
use crate::progress::Mode;
use crate::shm::{Segment, State};
use goal_asm::Nisa;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Time between two looks at the ranks: this much, and so much for each, since a look takes longer the more there are.
const TICK: Duration = Duration::from_millis(5);
const TICK_PER_RANK: Duration = Duration::from_micros(20);

/// A rank that ended by itself, and how.
pub(super) type Fallen = (u32, String);

/// What is looked at.
pub(super) struct Supervisor<'a> {
    segment: &'a Segment,
    nisa: &'a Arc<Nisa>,
    options: &'a Options,
    started: Instant,
}

impl<'a> Supervisor<'a> {
    pub(super) fn new(segment: &'a Segment, nisa: &'a Arc<Nisa>, options: &'a Options) -> Self {
        Self { segment, nisa, options, started: Instant::now() }
    }

    /// Returns when the job has ended or cannot; `fallen` tells of a rank that ended by itself.
    pub(super) fn watch(self, fallen: &mut dyn FnMut() -> Option<Fallen>) -> End {
        let ranks = self.segment.num_ranks();
        let tick = TICK + TICK_PER_RANK * ranks;
        let mut watch = Watch::new(self.options.progress == Mode::Node, (0..ranks).collect());
        loop {
            self.segment.gate().wait_finished(ranks, tick);
            if let Some(failures) = self.failures() {
                return End::Failed(failures);
            }
            if self.segment.gate().finished() == ranks {
                return End::Complete;
            }
            let signal = self.options.interrupted.load(Ordering::SeqCst);
            if signal != 0 {
                return End::Interrupted(signal);
            }
            if let Some((rank, how)) = fallen() {
                // It may have failed after the look above.
                if let Some(failures) = self.failures() {
                    return End::Failed(failures);
                }
                return End::Died {
                    rank,
                    how,
                    pending: Pending::of_rank(self.segment, self.nisa, self.options.window.as_ref(), rank),
                };
            }
            if watch.is_stuck(self.segment) {
                return End::Stuck(self.pending());
            }
            if self.options.timeout.is_some_and(|timeout| self.started.elapsed() >= timeout) {
                return End::TimedOut(self.pending());
            }
        }
    }

    fn pending(&self) -> Pending {
        Pending::of_job(self.segment, self.nisa, self.options.window.as_ref(), &self.options.engine)
    }

    fn failures(&self) -> Option<Vec<String>> {
        let segment = self.segment;
        let failed = |rank: &u32| segment.status(*rank).state() == State::Failed;
        let texts: Vec<String> =
            (0..segment.num_ranks()).filter(failed).filter_map(|rank| segment.failure(rank)).collect();
        (!texts.is_empty()).then_some(texts)
    }
}

/// Stops the ranks and wakes those that sleep until `ended` says that there is none left, or the time is up.
pub(super) fn stop(segment: &Segment, limit: Option<Duration>, mut ended: impl FnMut() -> bool) {
    segment.gate().stop();
    let started = Instant::now();
    let mut pause = Duration::from_micros(50);
    loop {
        for rank in 0..segment.num_ranks() {
            segment.mailbox(rank).wake();
        }
        if ended() || limit.is_some_and(|limit| started.elapsed() >= limit) {
            return;
        }
        std::thread::sleep(pause);
        pause = (2 * pause).min(TICK);
    }
}
