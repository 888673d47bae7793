//! The start and the end of MPI in this process.

#![allow(unsafe_code)] // calls that begin and end MPI

use crate::comm::Comm;
use crate::error::checked;
use mpi_sys as ffi;
use std::marker::PhantomData;
use std::ptr;

/// MPI, initialized by this process. Dropping this value finalizes MPI, in the thread that
/// initialized it. If a fabric has ended with messages under way, MPI is not finalized, because
/// `MPI_Finalize` might wait for them for ever. `mpirun` then takes the process for failed.
pub struct Process {
    comm: Comm,
    is_abandoned: bool,
    /// MPI ends in the thread that initialized it, so this is not `Send`.
    thread: PhantomData<*const ()>,
}

impl Process {
    /// Initializes MPI. All processes of the job call this.
    ///
    /// # Errors
    /// MPI was initialized before, or [`MpiError`].
    pub fn start() -> Result<Self, String> {
        let (mut has_begun, mut level) = (0, 0);
        // SAFETY: it may be called at any time, and the result is a valid place.
        let asked = checked("MPI_Initialized", unsafe { ffi::MPI_Initialized(&mut has_begun) });
        asked.map_err(|error| error.to_string())?;
        if has_begun != 0 {
            return Err("MPI is initialized already: use Comm::from_world".into());
        }
        // SAFETY: MPI is not initialized, both arguments of `main` may be null since MPI-2, and
        // the result is a valid place. The level is a constant that MPI never writes.
        let code = unsafe {
            let wanted = ffi::RSMPI_THREAD_SERIALIZED;
            ffi::MPI_Init_thread(ptr::null_mut(), ptr::null_mut(), wanted, &mut level)
        };
        checked("MPI_Init_thread", code).map_err(|error| error.to_string())?;
        let comm = Comm::from_world().map_err(|error| error.to_string())?;
        Ok(Self { comm, is_abandoned: false, thread: PhantomData })
    }

    /// Leaves MPI without `MPI_Finalize`, which would wait for processes that wait for this
    /// process. `mpirun` takes this process for failed, and ends the others.
    pub fn abandon(mut self) {
        self.is_abandoned = true;
    }

    /// Returns the communicator of GOAL's messages.
    pub fn comm(&self) -> &Comm {
        &self.comm
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.is_abandoned && self.comm.is_settled() {
            // SAFETY: this process has initialized MPI, in this thread, and nobody else ends it.
            unsafe { ffi::MPI_Finalize() };
        }
    }
}
