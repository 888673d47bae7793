//! Lets a group on one host grow and shrink while it runs.
//!
//! ```text
//! the root, or rank 0      asks the launcher for new ranks, or accepts some that wait
//!                          tells the others, by a broadcast in the library's matching space
//! all of them              make the communicator of their ranks and the new ones
//! the root, or rank 0      tells each new rank the list of its ranks, by a message
//! ```
//!
//! The segment has room for the mailboxes of new ranks from the start, so a message reaches a new
//! rank at once. Ranks outside of the communicator need not learn of a new rank, and give up no
//! resource for it.

mod agree;
mod tell;

pub use goal_job::growth::Command;

use crate::communicator::Communicator;
use crate::error::{Error, ErrorCode, Result};
use crate::group::Group;
use agree::agree;
use goal_job::growth::GrowError;
use goal_rank::program::Attached;
use tell::tell;

/// A request to start new ranks, for [`Group::spawn`].
#[derive(Debug, Clone, Default)]
pub struct Spawn {
    /// The number of new ranks. Only the root's value counts.
    pub ranks: u32,
    /// The program of the new ranks; `None` is the root's own program. Only the root's value
    /// counts.
    pub command: Option<Command>,
    /// The rank of the communicator that starts the new ranks.
    pub root: u32,
}

impl Group {
    /// Starts new ranks, and returns a communicator of the ranks of `communicator` followed by the
    /// new ranks. All ranks of `communicator` call this. It corresponds to `MPI_Comm_spawn`
    /// followed by `MPI_Intercomm_merge`.
    ///
    /// In the new processes [`Group::world`] is this communicator. [`Group::init`] returns there
    /// when the root has sent them its list of ranks.
    ///
    /// # Errors
    /// On all ranks of `communicator`:
    ///
    /// - [`ErrorCode::Limit`] if the job has no room for the new ranks,
    /// - [`ErrorCode::System`] if the program can't be started,
    /// - [`ErrorCode::Unsupported`] in a job on several hosts.
    ///
    /// On a single process: [`ErrorCode::Limit`] if the new communicator's number is taken there.
    /// The probability is 1 in 2^47 for each communicator that exists. The new ranks have started
    /// by then.
    pub fn spawn(self, communicator: &Communicator, new: &Spawn) -> Result<Communicator> {
        let Spawn { ranks, ref command, root } = *new;
        spawn(communicator, root, "Group::spawn", || Ok((ranks, command.clone())))
    }

    /// Returns the number of ranks that `goal-run grow` has started and that wait to be accepted.
    pub fn joining(self) -> u32 {
        self.shared().attached.joining().len() as u32
    }

    /// Accepts the ranks that wait to be accepted. Returns a communicator of the ranks of
    /// `communicator` followed by the accepted ranks. All ranks of `communicator` call this, and
    /// its rank 0 decides which ranks are accepted.
    ///
    /// # Errors
    /// [`ErrorCode::Argument`] on all ranks if no rank waits to be accepted.
    pub fn accept(self, communicator: &Communicator) -> Result<Communicator> {
        accept(communicator, "Group::accept")
    }

    /// Returns true if this process was added to the job after its start.
    pub fn has_joined(self) -> bool {
        self.shared().attached.has_joined()
    }

    /// Ends this rank's part in the group without waiting for the other ranks, which go on. Every
    /// run must have ended before. The process may then exit. On communicators that contain this
    /// rank, other ranks can't start new schedules any more.
    ///
    /// # Errors
    /// A run has not ended (this rank then stays in the group), the job can't go on, or the job has
    /// several hosts.
    pub fn leave(self) -> Result<()> {
        may_change(&self.own()?.attached)?;
        self.end(Attached::leave)
    }
}

/// Starts new ranks as [`Group::spawn`] does. `wanted` returns the number of new ranks and their
/// program. Only the root calls `wanted`; if this fails, all ranks return its error. `call` names
/// the caller's function in reports about a rank that waits for ever.
///
/// # Errors
/// As for [`Group::spawn`], or the error of `wanted`.
pub fn spawn(
    communicator: &Communicator,
    root: u32,
    call: &str,
    wanted: impl FnOnce() -> Result<(u32, Option<Command>)>,
) -> Result<Communicator> {
    if root >= communicator.size() {
        let text = format!("root is {root}, and the communicator has {}", communicator.size());
        return Err(Error::new(ErrorCode::Rank, text));
    }
    grow(communicator, root, call, |attached| {
        let (ranks, command) = wanted()?;
        let first = attached.grow(ranks, command).map_err(|error| of_grow(&error))?;
        Ok((first..first + ranks).collect())
    })
}

/// Accepts the ranks that wait to be accepted, as [`Group::accept`] does. `call` names the caller's
/// function in reports about a rank that waits for ever.
///
/// # Errors
/// As for [`Group::accept`].
pub fn accept(communicator: &Communicator, call: &str) -> Result<Communicator> {
    grow(communicator, 0, call, |attached| {
        let mut waiting = attached.joining();
        waiting.retain(|&rank| attached.accept(rank));
        match waiting.is_empty() {
            true => Err(Error::new(
                ErrorCode::Argument,
                "no rank waits to be accepted (GOAL_Joining tells how many)",
            )),
            false => Ok(waiting),
        }
    })
}

/// Makes a communicator of the ranks of `communicator` and new ranks. Only the root calls `decide`,
/// which returns the new ranks.
fn grow(
    communicator: &Communicator,
    root: u32,
    call: &str,
    decide: impl FnOnce(&Attached) -> Result<Vec<u32>>,
) -> Result<Communicator> {
    let group = Group::current()?;
    let shared = group.shared();
    may_change(&shared.attached)?;
    // This check comes before new ranks become members. If it failed later, no rank could tell them
    // their communicator.
    communicator.refuse_left(&shared.attached)?;
    let new = agree(communicator, root, call, || decide(&shared.attached))?;
    let larger = shared.make_communicator(|made| made.make_larger(communicator, &new))?;
    if communicator.rank() == root {
        tell(&larger, &new, call)?;
    }
    Ok(larger)
}

/// # Errors
/// Ranks can't join or leave this job.
fn may_change(attached: &Attached) -> Result<()> {
    attached.may_change().map_err(|why| {
        Error::new(ErrorCode::Unsupported, format!("ranks can't join or leave this job: {why}"))
    })
}

fn of_grow(error: &GrowError) -> Error {
    let text = error.to_string();
    let code = match error {
        GrowError::Unsupported(_) => ErrorCode::Unsupported,
        GrowError::TooLong => ErrorCode::Limit,
        GrowError::Refused(_) if text.contains("--grow-to") => ErrorCode::Limit,
        _ => ErrorCode::System,
    };
    Error::new(code, text)
}
