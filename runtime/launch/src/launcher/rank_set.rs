//! Describes the part of a job on this host, and controls the set of its ranks.

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
    /// The ranks of this host, ascending, with those that may be added: see [`Place::present`].
    pub(super) here: &'a [u32],
    /// The start of the time that the time limit bounds.
    pub(super) since: Instant,
}

impl<'a> Place<'a> {
    /// Returns the input of a report on unfinished actions.
    pub(super) fn observed(&self) -> Observed<'a> {
        let Self { nisa, options, settings, segment, .. } = *self;
        let here = self.present();
        Observed { segment, nisa, window: options.window.as_ref(), settings, here }
    }

    /// Returns the ranks of this host that there are now, ascending. Those that a job may grow by
    /// are its last ones.
    pub(super) fn present(&self) -> &'a [u32] {
        let absent = self.segment.capacity() - self.segment.num_ranks();
        &self.here[..self.here.len().saturating_sub(absent as usize)]
    }

    /// Returns the ranks of [`Place::present`] that take part in the job. Ranks that wait to be
    /// accepted do not, nor do ranks that have left.
    pub(super) fn members(&self) -> Vec<u32> {
        let takes_part = |rank: &u32| self.segment.status(*rank).member_state.takes_part();
        self.present().iter().copied().filter(takes_part).collect()
    }

    /// Returns true if the time is up. Does not count the time for which this process was
    /// `suspended`.
    pub(super) fn is_late(&self, suspended: Duration) -> bool {
        let timeout = self.options.spec.timeout;
        timeout.is_some_and(|timeout| self.since.elapsed().saturating_sub(suspended) >= timeout)
    }
}

/// A rank that ended although the job had not.
#[derive(Debug)]
pub(super) enum Exited {
    /// The rank could not start; the text says why.
    NotStarted(u32, String),
    /// The rank ended after it had started; the text says how. The launcher exits with the given
    /// status, if any.
    Ended(u32, String, Option<u8>),
}

/// The processes or threads of this host's ranks.
pub(super) trait RankSet {
    /// Returns a rank that has exited although the job has not ended; `None` if none has.
    fn exited(&mut self) -> Option<Exited>;

    /// Ends all that is left of a rank that has ended, and forgets it. Returns false if some of it
    /// may go on, or if its end is that of the job.
    fn bury(&mut self, _rank: u32) -> bool {
        false
    }

    /// Returns the number of ranks that were started.
    fn started(&self) -> usize;

    /// Returns true if all ranks have come to their end. `have_passed` says that all of them have
    /// counted themselves at the start barrier
    /// ([`StartBarrier::finish`](goal_shm::StartBarrier::finish)).
    fn have_finished(&mut self, have_passed: bool) -> bool {
        have_passed
    }

    /// Starts more ranks if somebody asks for them and the job can grow. Never blocks. Returns true
    /// if somebody has asked.
    fn grow(&mut self) -> bool {
        false
    }

    /// Ends ranks that nobody has accepted: all others have come to their end.
    fn dismiss(&mut self) {}

    /// Returns the ranks that another process has stopped, ascending.
    fn stopped(&mut self) -> Vec<Stopped>;

    /// Passes a signal on to the processes of a program. Returns false if there are none.
    fn forward(&mut self, _signal: i32) -> bool {
        false
    }

    /// Stops all ranks that are not stopped already.
    fn suspend(&mut self);

    /// Continues the ranks that [`RankSet::suspend`] stopped.
    fn resume(&mut self);

    /// Ends the ranks if they are threads of this process. Until then, this process must not read
    /// the counters and bitmaps that their engines write: that would be a data race. Ranks that are
    /// processes go on.
    fn end_threads(&mut self);
}
