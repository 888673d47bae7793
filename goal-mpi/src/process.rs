//! The start and the end of MPI in this process.

use crate::comm::Comm;
use mpi::Threading;
use mpi::environment::Universe;
use std::mem;

/// MPI, initialized by this process. Dropping this finalizes it, in the thread that initialized it,
/// unless a fabric has ended with messages under way: `MPI_Finalize` might wait for them for ever.
/// `mpirun` then takes the process for failed.
pub struct Process {
    universe: Option<Universe>,
    comm: Comm,
}

impl Process {
    /// Initializes MPI. All processes of the job call this.
    ///
    /// # Errors
    /// MPI was initialized before, or [`MpiError`].
    pub fn start() -> Result<Self, String> {
        let started = mpi::initialize_with_threading(Threading::Serialized);
        let (universe, _) = started.ok_or("MPI is initialized already: use Comm::of_world")?;
        let comm = Comm::of_world().map_err(|error| error.to_string())?;
        Ok(Self { universe: Some(universe), comm })
    }

    /// Leaves MPI without `MPI_Finalize`, which would wait for processes that wait for this one.
    /// `mpirun` takes the process for failed, and ends the others.
    pub fn abandon(mut self) {
        mem::forget(self.universe.take());
    }

    /// Returns the communicator of GOAL's messages.
    pub fn comm(&self) -> &Comm {
        &self.comm
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.comm.is_settled() {
            mem::forget(self.universe.take());
        }
    }
}
