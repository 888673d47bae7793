//! Adds ranks to a running job on one host, and lets ranks leave it.
//!
//! A rank asks the launcher for more ranks. These take no part in the job at first: they wait until
//! a rank accepts them. Any rank may leave before the others come to their end.

use super::{Attached, FinalizeError};
use crate::progress::{Interrupted, Member};
use goal_engine::{Waiting, within};
use goal_job::Job;
use goal_job::bootstrap::VERSION;
use goal_job::growth::{Command, GrowError, NOT_AFTER_LOSSES, Request, What, ask, no_room};
use goal_shm::State;

impl Attached {
    /// Returns true if this process was added to the job after its start.
    pub fn has_joined(&self) -> bool {
        self.rank >= self.job.segment.num_started()
    }

    /// Returns the number of ranks that there are now. It never shrinks: the number of a rank that
    /// has left is not used again.
    pub fn num_ranks(&self) -> u32 {
        self.job.segment.num_ranks().max(self.rank + 1)
    }

    /// Returns the most ranks that the job has room for.
    pub fn capacity(&self) -> u32 {
        self.job.segment.capacity()
    }

    /// Lets the launcher start `ranks` more ranks, which belong to the job at once: this rank must
    /// tell them so. Without a command they run the program of this rank. Returns the first of
    /// them. Waits until their processes have been started.
    ///
    /// # Errors
    /// [`GrowError`].
    pub fn grow(&self, ranks: u32, command: Option<Command>) -> Result<u32, GrowError> {
        self.may_change().map_err(GrowError::Unsupported)?;
        if !self.has_launcher() {
            let why = "it has no launcher: start the program with goal-run -n N";
            return Err(GrowError::Unsupported(why));
        }
        // A job without room has no socket for requests.
        if let Some(why) = no_room(self.num_ranks(), self.capacity(), ranks) {
            return Err(GrowError::Refused(why));
        }
        let why = "goal-run has started it without room for more ranks (--grow-to)";
        let address =
            self.job.settings.growth_address.as_ref().ok_or(GrowError::Unsupported(why))?;
        let what = command.map_or(What::LikeRank(self.rank), What::Command);
        let (version, token) = (VERSION.into(), address.token.clone());
        let request = Request { version, token, ranks, what, are_members: true };
        let segment = self.job.segment;
        // The launcher looks at its socket when it has looked at its ranks.
        let calls = || segment.start_barrier().call_launcher();
        let wants = || {
            segment.rank_count().want_growth();
            calls();
        };
        ask(address, &request, wants, calls)
    }

    /// Returns the ranks that have attached and wait to be accepted, ascending.
    pub fn joining(&self) -> Vec<u32> {
        let segment = self.job.segment;
        let waits = |&rank: &u32| {
            let status = segment.status(rank);
            status.member_state.is_joining() && status.process_state.process().is_some()
        };
        (segment.num_started()..segment.num_ranks()).filter(waits).collect()
    }

    /// Accepts a rank that waits. Returns true for the one caller that does so, and that must tell
    /// the rank.
    pub fn accept(&self, rank: u32) -> bool {
        self.job.segment.status(rank).member_state.accept()
    }

    /// Returns true if some rank has left. A load.
    #[inline]
    pub fn have_left(&self) -> bool {
        self.job.segment.rank_count().has_lost_some()
    }

    /// Returns true if a rank has left.
    pub fn has_left(&self, rank: u32) -> bool {
        self.job.segment.status(rank).member_state.has_left()
    }

    /// Checks that ranks can join and leave this job.
    ///
    /// # Errors
    /// The reason why they can't.
    pub fn may_change(&self) -> Result<(), &'static str> {
        let settings = &self.job.settings;
        match &settings.network {
            Some(_) => Err("it is one on several hosts, and only jobs on one host grow and shrink"),
            None if settings.spec.survives => Err(NOT_AFTER_LOSSES),
            None => Ok(()),
        }
    }

    /// Ends the rank's part in the job without waiting for the others. All instances must be
    /// finished. The process may then exit, and the job goes on.
    ///
    /// # Errors
    /// [`FinalizeError`].
    pub fn leave(&self, mut member: Member<'static>) -> Result<(), FinalizeError> {
        if member.is_in_use() == Some(true) {
            return Err(FinalizeError::Unfinished);
        }
        let status = self.job.segment.status(self.rank);
        self.waits("leave", 1);
        within(|| self.send_all(&mut member)).unwrap_or_else(|used| Err(used.into()))?;
        self.publish(&mut member);
        drop(member);
        status.process_state.finalize();
        status.enter(State::Done);
        self.computes();
        let Job { segment, .. } = self.job;
        status.member_state.leave();
        segment.rank_count().count_left();
        segment.start_barrier().finish(segment.num_members());
        self.drop_guests();
        Ok(())
    }

    /// Serves other ranks until all messages of this one have left.
    fn send_all(&self, member: &mut Member<'static>) -> Result<(), Interrupted> {
        member.reclaim();
        loop {
            let progress = member.step()?;
            match progress.waiting {
                _ if progress.worked => {}
                Waiting::Nothing => return Ok(()),
                waiting => member.rest(waiting)?,
            }
        }
    }
}
