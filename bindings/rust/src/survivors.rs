//! Lets a group continue after the failure of a rank, as ULFM does with `MPIX_Comm_shrink`.
//!
//! A job that was started with `goal-run --survive` does not end with the loss of a rank. All runs
//! end early with [`ErrorCode::Lost`]. No run can start until all surviving ranks have called
//! [`Group::shrink`]. Afterwards communicators without a missing rank can be used again.

use crate::communicator::Communicator;
use crate::error::{Error, ErrorCode, Result, error_of};
use crate::group::Group;
use goal_rank::progress::{Interrupted, Member};

impl Group {
    /// Makes a communicator of the surviving ranks of `parent`, in their order. All surviving ranks
    /// of the group call this, or [`finalize`](Self::finalize). Each may choose its own `parent`.
    /// It returns when all have called one of the two.
    ///
    /// Runs that had not ended are over, with [`ErrorCode::Lost`], and the program may use their
    /// memory again.
    ///
    /// # Errors
    /// No rank was lost, or the job ended.
    pub fn shrink(self, parent: &Communicator) -> Result<Communicator> {
        let shared = self.own()?;
        if !shared.attached.await_verdict() {
            let text = "no rank was lost: a group is made smaller when a run has ended with GOAL_ERR_RANK_LOST";
            return Err(Error::new(ErrorCode::Argument, text));
        }
        // The drop of a function is code of the program, which may call the library. So it happens
        // without the engine lock.
        let mut functions = Vec::new();
        let generation = shared.with(|core| {
            let mut old = core.abandon().ok_or_else(is_over)?;
            functions = old.take_functions().map_err(|error| error_of(&error))?;
            shared.attached.waits("GOAL_Comm_shrink", 1);
            let regrouped = shared.attached.regroup(old);
            shared.attached.computes();
            let (generation, mut member) = regrouped.map_err(|error| error_of(&error))?;
            let mut prepare = || {
                while let Some((number, function)) = functions.pop() {
                    member.register(number, function).map_err(|error| error_of(&error))?;
                }
                self.take_up_mode(&mut member)
            };
            prepare().inspect_err(|why| {
                // The other ranks count on this rank from now on. The failure keeps them from
                // waiting for it.
                let rank = shared.attached.rank();
                shared.attached.fail(&format!("rank {rank} can't go on after a loss: {why}"));
            })?;
            core.resume(member, generation);
            core.follow_thread(move || shared.after_progress());
            Ok(generation)
        });
        // This wakes threads that wait for runs which are over.
        shared.turned.notify_all();
        self.rest_of(parent, generation?)
    }

    /// Sets the mode of progress of a new member to that of the last member.
    fn take_up_mode(self, member: &mut Member<'static>) -> Result<()> {
        let mode = self.progress();
        if mode == self.shared().attached.progress() {
            return Ok(());
        }
        member.set_progress(mode).map_err(|error| Error::new(ErrorCode::System, error.to_string()))
    }

    /// Makes the communicator of the ranks of `parent` that take part in `generation`.
    fn rest_of(self, parent: &Communicator, generation: u32) -> Result<Communicator> {
        let attached = &self.shared().attached;
        let left: Vec<u32> = (0..)
            .zip(parent.all_in_group())
            .filter(|&(_, in_group)| !attached.is_missing_in(in_group, generation))
            .map(|(rank, _)| rank)
            .collect();
        self.shared().make_communicator(|made| made.make_in(parent, &left, generation))
    }

    /// Returns the ranks of a communicator that were lost, in ascending order. They include losses
    /// that have not affected this process yet.
    pub fn lost(self, communicator: &Communicator) -> Vec<u32> {
        let all = (0..).zip(communicator.all_in_group());
        let attached = &self.shared().attached;
        all.filter(|&(_, in_group)| attached.is_lost(in_group)).map(|(rank, _)| rank).collect()
    }

    /// Returns an error if a rank of the communicator is missing in the current generation.
    #[cold]
    pub(crate) fn check_complete(self, communicator: &Communicator, generation: u32) -> Result<()> {
        let attached = &self.shared().attached;
        let missing = |&(_, in_group): &(u32, u32)| attached.is_missing_in(in_group, generation);
        match (0..).zip(communicator.all_in_group()).find(missing) {
            None => Ok(()),
            Some((rank, _)) => Err(Error::new(
                ErrorCode::Lost,
                format!(
                    "rank {rank} of the communicator is gone: take one of the ranks that are left (GOAL_Comm_shrink)"
                ),
            )),
        }
    }
}

#[cold]
fn is_over() -> Error {
    error_of(&Interrupted::Stopped)
}
