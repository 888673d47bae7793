//! Ranks that go on after the loss of another one.
//!
//! When a rank is lost, every schedule of the job ends early, with [`Interrupted::Lost`]. Each rank
//! that is left then drops its end of the job and waits for the others. The launcher empties all
//! mailboxes when none uses them any more, and the ranks go on with new ends: the next generation.
//! All of them agree on who is missing in a generation, whatever is lost later.

use super::Attached;
use crate::progress::{Interrupted, Member, member_over};
use goal_job::remote_sockets::RemoteSockets;
use goal_shm::{RecoveryState, State};
use goal_tcp::Listener;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The longest sleep of a rank that waits for the launcher.
const SINGLETON_POLL: Duration = Duration::from_millis(1);

impl Attached {
    /// Returns true if the job goes on after the loss of a rank.
    pub fn survives(&self) -> bool {
        self.job.settings.survives
    }

    /// Returns true if a rank was lost and the others have not regrouped yet.
    pub fn is_broken(&self) -> bool {
        self.job.segment.start_barrier().is_broken()
    }

    /// Returns true if this rank has lost the way to another one and the launcher knows no loss
    /// yet.
    pub fn has_lost_its_way(&self) -> bool {
        self.job.segment.status(self.rank).suspected().is_some()
    }

    /// Waits until the launcher has decided on the loss that this rank has met, if it has met one.
    /// Returns true if the job is broken. A rank that has no part in this generation is no loss.
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

    /// Returns true if a rank was lost, also one that the others do not know of yet.
    pub fn is_lost(&self, rank: u32) -> bool {
        self.job.segment.status(rank).is_lost()
    }

    /// Returns true if a rank is missing in a generation: it was lost before that began, or had
    /// come to its end. All ranks of the generation get the same answer.
    pub fn is_missing_in(&self, rank: u32, generation: u32) -> bool {
        self.job.segment.status(rank).is_missing_in(generation)
    }

    /// Gives up this rank's end of a broken job, and waits until all ranks that are left have done
    /// so or have come to their end. Returns the number of the new generation and the rank's new
    /// end. Instances that had not ended are gone.
    ///
    /// # Errors
    /// [`Interrupted`]: the job has ended meanwhile, or was not broken.
    pub fn regroup(&self, member: Member<'static>) -> Result<(u32, Member<'static>), Interrupted> {
        if !self.is_broken() {
            return Err(Interrupted::Stopped);
        }
        let segment = self.job.segment;
        let (start_barrier, status) = (segment.start_barrier(), segment.status(self.rank));
        let before = start_barrier.generation();
        drop(member);
        status.clear_suspicion();
        // The launcher looks for a stuck job as soon as it has mended this one: until the rank runs
        // again, it must not seem to rest.
        status.enter(State::Running);
        self.forget_exchanged();
        status.set_recovery_state(RecoveryState::Regroups);
        while start_barrier.generation() == before {
            if start_barrier.has_ended() {
                return Err(Interrupted::Stopped);
            }
            start_barrier.wait_change(SINGLETON_POLL);
        }
        segment.populate_mailbox(self.rank);
        let member = self.next_member().inspect_err(|why| {
            // The others count on this rank from now on, and must not wait for it.
            self.fail(&format!("rank {} can't go on after a loss: {why}", self.rank));
        });
        Ok((before + 1, member.map_err(|_| Interrupted::Stopped)?))
    }

    /// Makes the rank's end of the job in the generation that has begun.
    ///
    /// # Errors
    /// The reason why there is none.
    fn next_member(&self) -> Result<Member<'static>, String> {
        let listener = self.spare.as_ref().map(Listener::try_clone).transpose();
        let remote_sockets = listener.map_err(|error| error.to_string())?.map(RemoteSockets::Tcp);
        member_over(self.job, self.rank, remote_sockets).map_err(|error| error.to_string())
    }

    /// Waits for the end of the job, in which this rank has no part any more.
    pub(super) fn sit_out(&self) {
        let segment = self.job.segment;
        let status = segment.status(self.rank);
        self.forget_exchanged();
        // The rank counts no more: its word on another one does not either, and it may rest.
        status.clear_suspicion();
        status.enter(State::Done);
        status.set_recovery_state(RecoveryState::SitsOut);
        while !segment.start_barrier().has_ended() {
            segment.start_barrier().wait_change(SINGLETON_POLL);
        }
    }

    /// Begins to count anew the messages that the rank exchanges with other hosts. Those of the
    /// generation before are gone, so numbers of sent and taken ones differ.
    fn forget_exchanged(&self) {
        let status = self.job.segment.status(self.rank);
        status.remote_sent.store(0, Ordering::SeqCst);
        status.remote_taken.store(0, Ordering::SeqCst);
    }
}
