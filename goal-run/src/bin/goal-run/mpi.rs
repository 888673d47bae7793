//! Runs a rank that sends messages to other nodes by MPI, in a process that `mpirun` has started. A
//! thread initializes MPI, runs the rank and finalizes MPI. If this process has the launcher of its
//! node, the launcher runs in the main thread and does not call MPI.

use super::output::Failure;
use goal_eth::now_ns;
use goal_launch::{Lead, Wired, joined_rank_over};
use goal_mpi::{MpiFabric, Process};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

/// The thread that runs the rank.
pub(crate) struct Running(JoinHandle<Result<(), String>>);

/// What the processes agreed on: what the leader of a node needs, or `None` in other processes.
type Agreed = Result<Option<Box<Lead>>, String>;

/// Starts the rank of this process in a thread. Returns after all processes have agreed.
///
/// # Errors
/// The number of MPI processes differs from the number of ranks, or the processes can't
/// communicate.
pub(crate) fn start(ranks: u32) -> Result<(Running, Option<Box<Lead>>), Failure> {
    let (tell, agreed) = sync_channel(1);
    let work = move || work(ranks, &tell);
    let thread = Builder::new().name("rank".to_owned()).spawn(work);
    let thread = thread.map_err(|error| Failure::System(error.to_string()))?;
    match agreed.recv() {
        Ok(Ok(lead)) => Ok((Running(thread), lead)),
        Ok(Err(why)) => {
            let _ = thread.join();
            Err(Failure::System(why))
        }
        Err(_) => Err(Failure::System("the thread that initializes MPI has ended".to_owned())),
    }
}

/// Runs the rank. This is the work of the thread.
fn work(ranks: u32, tell: &SyncSender<Agreed>) -> Result<(), String> {
    let (process, wired) = match agree(ranks) {
        Ok((process, mut wired)) => {
            let _ = tell.send(Ok(wired.lead().map(Box::new)));
            (process, wired)
        }
        Err(why) => {
            let _ = tell.send(Err(why.clone()));
            return Err(why);
        }
    };
    let ran = joined_rank_over(&wired, |terms| {
        Ok(Box::new(MpiFabric::new(terms, process.comm(), now_ns)?))
    });
    ran.map(drop).map_err(|error| {
        process.abandon();
        format!("rank {}: {error}", wired.rank())
    })
}

/// Initializes MPI, and agrees with the other processes.
fn agree(ranks: u32) -> Result<(Process, Wired), String> {
    let process = Process::start()?;
    let comm = process.comm().clone();
    let (rank, size) = (comm.rank(), comm.size());
    if size != ranks {
        return Err(format!(
            "MPI has {size} processes, and the program has {ranks} ranks: build goal-run with the MPI library whose mpirun starts it, and start as many processes as there are ranks"
        ));
    }
    let mut exchange = |blob: &[u8]| comm.allgather(blob).map_err(|error| error.to_string());
    match Wired::arrange_over(rank, size, &mut exchange, goal_mpi::MPI.name) {
        Ok(wired) => Ok((process, wired)),
        // Other processes may still wait for this process in an exchange, so MPI is not finalized.
        Err(error) => {
            process.abandon();
            Err(error.to_string())
        }
    }
}

impl Running {
    /// Waits until the rank has left the job and MPI is finalized.
    ///
    /// # Errors
    /// The rank can't start, or the node's launcher has ended.
    pub(crate) fn end(self) -> Result<(), Failure> {
        let ended = self.0.join().unwrap_or_else(|_| Err("the rank's thread panicked".to_owned()));
        ended.map_err(Failure::System)
    }
}
