//! Adds ranks to a running job on one host, and lets ranks leave it.
//!
//! A rank asks the launcher for more ranks, which take part in the job at once. Ranks that
//! `goal-run grow` adds wait until a rank accepts them. Any rank may leave the job while the others
//! go on.

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

    /// Returns the number of ranks that the job has had so far. It never shrinks, because the
    /// number of a rank that has left is not used again.
    pub fn num_ranks(&self) -> u32 {
        self.job.segment.num_ranks().max(self.rank + 1)
    }

    /// Returns the number of ranks that the job has room for, including those that have left.
    pub fn capacity(&self) -> u32 {
        self.job.segment.capacity()
    }

    /// Lets the launcher start `ranks` more ranks, and waits until their processes have been
    /// started. Returns the number of the first new rank. The new ranks belong to the job at once,
    /// and this rank must tell them so. Without `command` they run the program of this rank.
    ///
    /// # Errors
    /// [`GrowError`].
    pub fn grow(&self, ranks: u32, command: Option<Command>) -> Result<u32, GrowError> {
        self.may_change().map_err(GrowError::Unsupported)?;
        if !self.has_launcher() {
            let why = "it has no launcher: start the program with goal-run -n N";
            return Err(GrowError::Unsupported(why));
        }
        // This check comes first, because a job without room has no socket for requests.
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
        // A call wakes the launcher. It looks at its socket for requests after it has looked at its
        // ranks.
        let calls = || segment.start_barrier().call_launcher();
        let wants = || {
            segment.rank_count().want_growth();
            calls();
        };
        ask(address, &request, wants, calls)
    }

    /// Returns the ranks that have attached and wait to be accepted, in ascending order.
    pub fn joining(&self) -> Vec<u32> {
        let segment = self.job.segment;
        let waits = |&rank: &u32| {
            let status = segment.status(rank);
            status.member_state.is_joining() && status.process_state.process().is_some()
        };
        (segment.num_started()..segment.num_ranks()).filter(waits).collect()
    }

    /// Accepts a rank that waits to be accepted. Returns true if this call has accepted the rank.
    /// The caller must then tell the rank. Returns false if another caller was first.
    pub fn accept(&self, rank: u32) -> bool {
        self.job.segment.status(rank).member_state.accept()
    }

    /// Returns true if some rank has left the job. Costs one load.
    #[inline]
    pub fn have_left(&self) -> bool {
        self.job.segment.rank_count().has_lost_some()
    }

    /// Returns true if `rank` has left the job.
    pub fn has_left(&self, rank: u32) -> bool {
        self.job.segment.status(rank).member_state.has_left()
    }

    /// Returns `Ok` if ranks can join and leave this job.
    ///
    /// # Errors
    /// The reason why ranks can't join and leave.
    pub fn may_change(&self) -> Result<(), &'static str> {
        let settings = &self.job.settings;
        match &settings.network {
            Some(_) => Err("it is one on several hosts, and only jobs on one host grow and shrink"),
            None if settings.spec.survives => Err(NOT_AFTER_LOSSES),
            None => Ok(()),
        }
    }

    /// Ends the rank's part in the job without waiting for other ranks. All instances must be
    /// finished before. Afterwards the process may exit, and the job goes on.
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

    /// Makes progress for this rank and others until all messages of this rank have left.
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
