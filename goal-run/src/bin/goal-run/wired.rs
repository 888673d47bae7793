//! Makes this process of goal-run a rank if another launcher, such as `mpirun`, has started it.

use crate::output::Failure;
use goal_bootstrap::{Launcher, Session};
use goal_launch::{Lead, Left, Wired, joined_rank};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// The longest time for an exchange with the other processes.
const PATIENCE: Duration = Duration::from_secs(120);

/// The rank of this process.
pub(crate) enum Started {
    /// A rank without MPI. [`Started::run`] or [`Leader::start_rank`] runs it. The other launcher
    /// takes the end of the session as the end of this process's part.
    Waiting { wired: Arc<Wired>, session: Session },
    /// The rank runs in the thread that uses MPI.
    #[cfg(feature = "mpi")]
    Running(super::mpi::Running),
}

/// What this process is in the job: only a rank, or also the leader of its node.
pub(crate) enum Role {
    Rank(Started),
    Leader(Box<Lead>, Leader),
}

/// The leader of a node, whose own rank runs in a thread.
pub(crate) struct Leader {
    rank: Option<JoinHandle<Option<Left>>>,
    started: Option<Started>,
}

/// Returns the role of this process if another launcher has started several processes. Otherwise
/// returns `None`. The program has `ranks` ranks. If `uses_mpi` is true, the processes communicate
/// over MPI.
///
/// # Errors
/// The launcher's environment contradicts itself, the number of processes differs from the number
/// of ranks, or the processes can't communicate.
pub(crate) fn role(ranks: u32, uses_mpi: bool) -> Result<Option<Role>, Failure> {
    let failure = |error: &dyn ToString| Failure::System(error.to_string());
    let Some(launcher) = Launcher::from_process().map_err(|error| failure(&error))? else {
        return Ok(None);
    };
    let Some(size) = launcher.size().filter(|&size| size > 1) else { return Ok(None) };
    if size != ranks {
        let name = launcher.kind().name();
        return Err(Failure::System(format!(
            "{name} has started {size} processes, and the program has {ranks} ranks: start as many processes as there are ranks"
        )));
    }
    #[cfg(feature = "mpi")]
    if uses_mpi {
        let (running, lead) = super::mpi::start(ranks)?;
        let started = Started::Running(running);
        return Ok(Some(match lead {
            None => Role::Rank(started),
            Some(lead) => Role::Leader(lead, Leader { rank: None, started: Some(started) }),
        }));
    }
    debug_assert!(cfg!(feature = "mpi") || !uses_mpi, "a build without MPI refuses it");
    let mut session = Session::open(&launcher, PATIENCE).map_err(|error| failure(&error))?;
    let mut exchange =
        |blob: &[u8]| session.allgather(blob, PATIENCE).map_err(|error| error.to_string());
    let mut wired =
        Wired::arrange(launcher.rank(), size, &mut exchange).map_err(|error| failure(&error))?;
    let lead = wired.lead();
    let started = Started::Waiting { wired: Arc::new(wired), session };
    Ok(Some(match lead {
        None => Role::Rank(started),
        Some(lead) => Role::Leader(Box::new(lead), Leader { rank: None, started: Some(started) }),
    }))
}

impl Started {
    /// Runs the rank of this process until the job has ended.
    ///
    /// # Errors
    /// The rank can't start, or the node's launcher has ended.
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self {
            Started::Waiting { wired, session } => {
                let failure = |error| Failure::System(format!("rank {}: {error}", wired.rank()));
                let left = joined_rank(&wired);
                end_session(session, left.as_ref().ok());
                left.map(drop).map_err(failure)
            }
            #[cfg(feature = "mpi")]
            Started::Running(running) => running.end(),
        }
    }
}

impl Leader {
    /// Starts the rank of this process in a thread. The thread waits until the launcher admits the
    /// rank.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn start_rank(&mut self) -> Result<(), Failure> {
        let wired = match &self.started {
            Some(Started::Waiting { wired, .. }) => Arc::clone(wired),
            // The rank runs already.
            _ => return Ok(()),
        };
        let name = format!("rank {}", wired.rank());
        // The launcher reports why a rank has ended.
        let work = move || joined_rank(&wired).ok();
        let thread = std::thread::Builder::new().name(name).spawn(work);
        self.rank = Some(thread.map_err(|error| Failure::System(error.to_string()))?);
        Ok(())
    }
}

/// Waits until the rank of this process has left the job, which is over.
impl Drop for Leader {
    fn drop(&mut self) {
        let left = self.rank.take().and_then(|rank| rank.join().ok().flatten());
        match self.started.take() {
            None => {}
            Some(Started::Waiting { session, .. }) => end_session(session, left.as_ref()),
            #[cfg(feature = "mpi")]
            // The launcher reports why a rank has ended.
            Some(Started::Running(running)) => drop(running.end()),
        }
    }
}

/// Ends the session with the other launcher, after the rank has left its job. `left` is `None` if
/// the rank could not join.
fn end_session(session: Session, left: Option<&Left>) {
    match left {
        Some(Left::Done) => drop(session),
        Some(Left::Early) | None => session.end_after_failure(),
    }
}
