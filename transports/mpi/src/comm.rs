//! The communicator of GOAL's messages.
#![allow(unsafe_code)] // calls of MPI with buffers of this module

use crate::error::{MpiError, checked};
use mpi_sys as ffi;
use std::ffi::c_int;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// A duplicate of `MPI_COMM_WORLD`. Clones of this value share one duplicate.
#[derive(Clone)]
pub struct Comm(Arc<Inner>);

struct Inner {
    raw: ffi::MPI_Comm,
    rank: u32,
    size: u32,
    /// The only thread that may call MPI; `None` if any may.
    thread: Option<ThreadId>,
    /// Held in each call of MPI, so that threads call MPI one at a time.
    turn: Mutex<()>,
    messages: Mutex<Messages>,
}

/// The state of the messages of fabrics on a communicator.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Messages {
    /// No fabric is in use, and all messages that were sent were received.
    None,
    /// A fabric is in use, and may have messages under way.
    OfFabric,
    /// A fabric has ended while messages were under way. A later fabric could take them for its
    /// own, and `MPI_Finalize` might wait for them for ever.
    Lost,
}

// SAFETY: a communicator is a handle that any thread which may call MPI can use; `Comm::call`
// refuses the others.
unsafe impl Send for Inner {}
// SAFETY: as above. `Comm::call` lets one thread call at a time.
unsafe impl Sync for Inner {}

impl Comm {
    /// Duplicates `MPI_COMM_WORLD`, in a process that has initialized MPI. All processes of the job
    /// call this. If MPI has a level of threads below `MPI_THREAD_SERIALIZED`, only the calling
    /// thread may use the communicator. With `MPI_THREAD_SERIALIZED`, the program's own calls of
    /// MPI must not come at the same time as calls of a fabric.
    ///
    /// # Errors
    /// [`MpiError`].
    pub fn from_world() -> Result<Self, MpiError> {
        let (mut has_begun, mut has_ended) = (0, 0);
        // SAFETY: both may be called at any time, and the results are valid places.
        unsafe {
            checked("MPI_Initialized", ffi::MPI_Initialized(&mut has_begun))?;
            checked("MPI_Finalized", ffi::MPI_Finalized(&mut has_ended))?;
        }
        if has_begun == 0 || has_ended != 0 {
            return Err(MpiError::NotInitialized);
        }
        let raw = duplicate_world()?;
        let (rank, size) = place(raw)?;
        let mut level = 0;
        // SAFETY: MPI is initialized, and the result is a valid place.
        checked("MPI_Query_thread", unsafe { ffi::MPI_Query_thread(&mut level) })?;
        // SAFETY: a constant that MPI never writes.
        let is_for_all = level >= unsafe { ffi::RSMPI_THREAD_SERIALIZED };
        let thread = (!is_for_all).then(|| thread::current().id());
        let (turn, messages) = (Mutex::new(()), Mutex::new(Messages::None));
        Ok(Self(Arc::new(Inner { raw, rank, size, thread, turn, messages })))
    }

    /// Returns the rank of this process.
    pub fn rank(&self) -> u32 {
        self.0.rank
    }

    /// Returns the number of ranks.
    pub fn size(&self) -> u32 {
        self.0.size
    }

    /// Gives each rank the blobs of all ranks, by rank. All ranks call this.
    ///
    /// # Errors
    /// [`MpiError`].
    pub fn allgather(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, MpiError> {
        allgather(self, own)
    }

    pub(crate) fn raw(&self) -> ffi::MPI_Comm {
        self.0.raw
    }

    /// Calls a function of MPI, and returns an error if it failed. `call` must not call this method
    /// again.
    ///
    /// # Errors
    /// [`MpiError`], also if this thread may not call MPI.
    pub(crate) fn call(
        &self,
        name: &'static str,
        call: impl FnOnce() -> c_int,
    ) -> Result<(), MpiError> {
        let is_own = |&thread: &ThreadId| thread == thread::current().id();
        if !self.0.thread.as_ref().is_none_or(is_own) {
            return Err(MpiError::Thread);
        }
        // The lock guards no data, so a panic of its holder has left nothing in pieces.
        let _turn = self.0.turn.lock().unwrap_or_else(PoisonError::into_inner);
        checked(name, call())
    }

    fn messages(&self) -> MutexGuard<'_, Messages> {
        self.0.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a fabric begins.
    ///
    /// # Errors
    /// The communicator has a fabric already, or messages of an earlier fabric were under way when
    /// it ended.
    pub(crate) fn begin_fabric(&self) -> Result<(), String> {
        let mut messages = self.messages();
        match *messages {
            Messages::OfFabric => Err("the communicator has a fabric already".to_owned()),
            Messages::Lost => Err("messages of an earlier fabric are under way".to_owned()),
            Messages::None => {
                *messages = Messages::OfFabric;
                Ok(())
            }
        }
    }

    /// Notes that the fabric has ended. `is_settled` is true if all its messages were received.
    pub(crate) fn end_fabric(&self, is_settled: bool) {
        *self.messages() = if is_settled { Messages::None } else { Messages::Lost };
    }

    /// Returns true if no message is under way, and no fabric is in use.
    pub(crate) fn is_settled(&self) -> bool {
        *self.messages() == Messages::None
    }
}

/// Duplicates `MPI_COMM_WORLD`. Calls on the duplicate return their errors. All ranks call this.
///
/// # Errors
/// [`MpiError`].
fn duplicate_world() -> Result<ffi::MPI_Comm, MpiError> {
    // SAFETY: these are constants of the library; the duplicate is a valid place.
    unsafe {
        let mut own = ffi::RSMPI_COMM_NULL;
        checked("MPI_Comm_dup", ffi::MPI_Comm_dup(ffi::RSMPI_COMM_WORLD, &mut own))?;
        let set = ffi::MPI_Comm_set_errhandler(own, ffi::RSMPI_ERRORS_RETURN);
        checked("MPI_Comm_set_errhandler", set)?;
        Ok(own)
    }
}

/// Returns the rank of this process in a communicator, and the number of ranks.
///
/// # Errors
/// [`MpiError`].
fn place(comm: ffi::MPI_Comm) -> Result<(u32, u32), MpiError> {
    let (mut rank, mut size) = (0, 0);
    // SAFETY: the communicator is one of MPI, and both results are valid places.
    unsafe {
        checked("MPI_Comm_rank", ffi::MPI_Comm_rank(comm, &mut rank))?;
        checked("MPI_Comm_size", ffi::MPI_Comm_size(comm, &mut size))?;
    }
    Ok((rank.unsigned_abs(), size.unsigned_abs()))
}

/// Gives each rank the blobs of all ranks, which may differ in length. All ranks call this.
///
/// # Errors
/// [`MpiError`].
fn allgather(comm: &Comm, own: &[u8]) -> Result<Vec<Vec<u8>>, MpiError> {
    // A blob that is too long must be seen by all ranks, so that no rank is left alone in a call.
    let len = c_int::try_from(own.len()).unwrap_or(c_int::MAX);
    let mut lens = vec![0 as c_int; comm.size() as usize];
    // SAFETY: one number leaves, and there is room for that of each rank.
    comm.call("MPI_Allgather", || unsafe {
        let number = ffi::RSMPI_INT32_T;
        ffi::MPI_Allgather(
            ptr::from_ref(&len).cast(),
            1,
            number,
            lens.as_mut_ptr().cast(),
            1,
            number,
            comm.raw(),
        )
    })?;
    let mut starts = Vec::with_capacity(lens.len());
    let mut end: c_int = 0;
    for &len in &lens {
        starts.push(end);
        end = end.checked_add(len.max(0)).ok_or(MpiError::TooLong)?;
    }
    let mut all = vec![0u8; end.unsigned_abs() as usize];
    // SAFETY: `own` has `len` bytes, and `all` the places that `starts` and `lens` name.
    comm.call("MPI_Allgatherv", || unsafe {
        let byte = ffi::RSMPI_UINT8_T;
        ffi::MPI_Allgatherv(
            own.as_ptr().cast(),
            len,
            byte,
            all.as_mut_ptr().cast(),
            lens.as_ptr(),
            starts.as_ptr(),
            byte,
            comm.raw(),
        )
    })?;
    let blob = |(&start, &len): (&c_int, &c_int)| {
        all[start as usize..start as usize + len.max(0) as usize].to_vec()
    };
    Ok(starts.iter().zip(&lens).map(blob).collect())
}
