//! Describes the part of a job on this host, and defines how a launcher controls its ranks.

use super::options::Options;
use crate::monitor::{Observed, Stopped};
use goal_asm::Nisa;
use goal_job::Settings;
use goal_shm::Segment;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The part of a job that runs on this host.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) nisa: &'a Arc<Nisa>,
    pub(super) options: &'a Options,
    pub(super) settings: &'a Settings,
    pub(super) segment: &'a Segment,
    /// The ranks of this host, ascending. It includes ranks that may be added: see
    /// [`Place::present`].
    pub(super) here: &'a [u32],
    /// The time from which the time limit counts.
    pub(super) since: Instant,
}

impl<'a> Place<'a> {
    /// Returns what a report on unfinished actions is made from.
    pub(super) fn observed(&self) -> Observed<'a> {
        let Self { nisa, options, settings, segment, .. } = *self;
        let here = self.present();
        Observed { segment, nisa, window: options.window.as_ref(), settings, here }
    }

    /// Returns the ranks of this host that exist now, ascending. Ranks by which the job may still
    /// grow are the last ones of `here`, and are left out.
    pub(super) fn present(&self) -> &'a [u32] {
        let absent = self.segment.capacity() - self.segment.num_ranks();
        &self.here[..self.here.len().saturating_sub(absent as usize)]
    }

    /// Returns the ranks of [`Place::present`] that take part in the job. Leaves out ranks that
    /// have left or are not accepted yet.
    pub(super) fn members(&self) -> Vec<u32> {
        let takes_part = |rank: &u32| self.segment.status(*rank).member_state.takes_part();
        self.present().iter().copied().filter(takes_part).collect()
    }

    /// Returns true if the time is up. The time for which this process was `suspended` does not
    /// count.
    pub(super) fn is_late(&self, suspended: Duration) -> bool {
        let timeout = self.options.spec.timeout;
        timeout.is_some_and(|timeout| self.since.elapsed().saturating_sub(suspended) >= timeout)
    }
}

/// A rank that ended before the job.
#[derive(Debug)]
pub(super) enum Exited {
    /// The rank could not start, for this reason.
    NotStarted(u32, String),
    /// The rank ended after it had started. The text says how. The number is the exit status of the
    /// launcher, if it follows from the rank's.
    Ended(u32, String, Option<u8>),
}

/// The processes or threads of this host's ranks.
pub(super) trait RankSet {
    /// Returns a rank that has exited although the job has not ended; `None` if none has.
    fn exited(&mut self) -> Option<Exited>;

    /// Kills all processes of a rank that has ended, and forgets the rank. Returns false if a
    /// process may still run, or if ranks of this kind can't be lost without the end of the job.
    fn bury(&mut self, _rank: u32) -> bool {
        false
    }

    /// Returns the number of ranks that were started.
    fn started(&self) -> usize;

    /// Returns true if all ranks have come to their end. `have_passed` is true if all of them have
    /// called [`StartBarrier::finish`](goal_shm::StartBarrier::finish).
    fn have_finished(&mut self, have_passed: bool) -> bool {
        have_passed
    }

    /// Starts more ranks if there are requests and the job can grow. Never blocks. Returns true if
    /// there were requests.
    fn grow(&mut self) -> bool {
        false
    }

    /// Kills ranks that were never accepted, when all other ranks have come to their end.
    fn dismiss(&mut self) {}

    /// Returns the ranks that a signal of another process has stopped, ascending.
    fn stopped(&mut self) -> Vec<Stopped>;

    /// Passes a signal on to the processes of a program. Returns false if there are none.
    fn forward(&mut self, _signal: i32) -> bool {
        false
    }

    /// Stops all ranks that are not stopped already.
    fn suspend(&mut self);

    /// Continues the ranks that [`RankSet::suspend`] stopped.
    fn resume(&mut self);

    /// Ends the ranks if they are threads of this process; ranks in processes go on. Before that,
    /// this process must not read the counters and bitmaps that the engines of threads write. It
    /// would be a data race.
    fn end_threads(&mut self);
}
