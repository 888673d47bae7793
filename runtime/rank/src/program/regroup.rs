//! Lets ranks go on after the loss of another rank.
//!
//! When a rank is lost, every schedule of the job ends early, with [`Interrupted::Lost`]. Each
//! surviving rank then drops its member, and waits for the other survivors. When no rank uses
//! messages any more, the launcher empties all mailboxes. The ranks go on with new members: the
//! next generation. All of them agree on the missing ranks of a generation, even if others are lost
//! later.

use super::Attached;
use crate::progress::{Interrupted, Member, member_over};
use goal_job::remote_sockets::RemoteSockets;
use goal_shm::{RecoveryState, State};
use goal_tcp::Listener;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The longest sleep between two looks of a rank that waits for the launcher.
const SINGLETON_POLL: Duration = Duration::from_millis(1);

impl Attached {
    /// Returns true if the job goes on after the loss of a rank.
    pub fn survives(&self) -> bool {
        self.job.settings.spec.survives
    }

    /// Returns true if a rank was lost and the surviving ranks have not regrouped yet.
    pub fn is_broken(&self) -> bool {
        self.job.segment.start_barrier().is_broken()
    }

    /// Returns true if this rank suspects another rank, and the launcher has not decided on the
    /// suspicion yet. A rank suspects another rank when it can't reach that rank any more.
    pub fn has_lost_its_endpoint(&self) -> bool {
        self.job.segment.status(self.rank).suspected().is_some()
    }

    /// Waits until the launcher has decided on this rank's suspicion, if it has one. Returns true
    /// if the job is broken. A suspicion of a rank that has no part in this generation breaks
    /// nothing.
    pub fn await_verdict(&self) -> bool {
        let (segment, start_barrier) = (self.job.segment, self.job.segment.start_barrier());
        while let Some(suspected) = segment.status(self.rank).suspected()
            && !start_barrier.is_stopped()
        {
            if self.is_missing_in(suspected, start_barrier.generation()) {
                segment.status(self.rank).clear_suspicion();
                break;
            }
            start_barrier.wait_change(SINGLETON_POLL);
        }
        start_barrier.is_broken()
    }

    /// Returns true if `rank` was lost, even if other ranks do not know of the loss yet.
    pub fn is_lost(&self, rank: u32) -> bool {
        self.job.segment.status(rank).is_lost()
    }

    /// Returns true if `rank` is missing in `generation`: before the generation began, the rank was
    /// lost or had ended its part. All ranks of the generation get the same answer.
    pub fn is_missing_in(&self, rank: u32, generation: u32) -> bool {
        self.job.segment.status(rank).is_missing_in(generation)
    }

    /// Drops this rank's member of a broken job. Waits until every other rank has dropped its
    /// member, has ended its part or is lost. Returns the number of the new generation and the
    /// rank's new member. Instances that had not ended are gone.
    ///
    /// # Errors
    /// [`Interrupted::Stopped`]: the job has ended meanwhile, or was not broken.
    pub fn regroup(&self, member: Member<'static>) -> Result<(u32, Member<'static>), Interrupted> {
        if !self.is_broken() {
            return Err(Interrupted::Stopped);
        }
        let segment = self.job.segment;
        let (start_barrier, status) = (segment.start_barrier(), segment.status(self.rank));
        let before = start_barrier.generation();
        drop(member);
        status.clear_suspicion();
        // As soon as the launcher has begun the new generation, it looks for a stuck job again. So
        // this rank must not seem to rest before it runs again.
        status.enter(State::Running);
        self.forget_exchanged();
        status.set_recovery_state(RecoveryState::Regroups);
        while start_barrier.generation() == before {
            if start_barrier.has_ended() {
                return Err(Interrupted::Stopped);
            }
            start_barrier.wait_change(SINGLETON_POLL);
        }
        segment.populate_messages(self.rank);
        let member = self.next_member().inspect_err(|why| {
            // The others count on this rank from now on, and must not wait for it.
            self.fail(&format!("rank {} can't go on after a loss: {why}", self.rank));
        });
        Ok((before + 1, member.map_err(|_| Interrupted::Stopped)?))
    }

    /// Creates the rank's member in the new generation.
    ///
    /// # Errors
    /// The text of the error, if the member can't be created.
    fn next_member(&self) -> Result<Member<'static>, String> {
        let listener = self.spare.as_ref().map(Listener::try_clone).transpose();
        let remote_sockets = listener.map_err(|error| error.to_string())?.map(RemoteSockets::Tcp);
        member_over(self.job, self.rank, remote_sockets).map_err(|error| error.to_string())
    }

    /// Waits for the end of the job. This rank has no part in the job any more.
    pub(super) fn sit_out(&self) {
        let segment = self.job.segment;
        let status = segment.status(self.rank);
        self.forget_exchanged();
        // The launcher ignores this rank from now on. So its suspicion must not count, and its
        // status may be `Done`.
        status.clear_suspicion();
        status.enter(State::Done);
        status.set_recovery_state(RecoveryState::SitsOut);
        while !segment.start_barrier().has_ended() {
            segment.start_barrier().wait_change(SINGLETON_POLL);
        }
    }

    /// Resets the counts of messages that the rank has exchanged with other hosts. Messages of the
    /// generation before are lost, so its numbers of sent and taken messages differ.
    fn forget_exchanged(&self) {
        let status = self.job.segment.status(self.rank);
        status.remote_sent.store(0, Ordering::SeqCst);
        status.remote_taken.store(0, Ordering::SeqCst);
    }
}
