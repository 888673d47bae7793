//! The communicator of GOAL's messages.
#![allow(unsafe_code)] // calls of MPI with buffers of this module

use crate::error::{MpiError, checked};
use mpi::ffi;
use std::ffi::c_int;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ThreadId};

/// A duplicate of `MPI_COMM_WORLD`. Copies name the same one.
#[derive(Clone)]
pub struct Comm(Arc<Inner>);

struct Inner {
    raw: ffi::MPI_Comm,
    rank: u32,
    size: u32,
    /// The only thread that may call MPI; `None` if any may.
    thread: Option<ThreadId>,
    /// Set while nothing that was sent is lost: MPI may be finalized then.
    is_settled: AtomicBool,
}

// SAFETY: a communicator is a handle that any thread which may call MPI can use; `Comm::allow`
// refuses the others.
unsafe impl Send for Inner {}
// SAFETY: as above. MPI calls of several threads at a time do not occur: each use of a fabric has
// it mutably, and a process has one.
unsafe impl Sync for Inner {}

impl Comm {
    /// Duplicates `MPI_COMM_WORLD`, in a process that has initialized MPI. All processes of the job
    /// call this. If `is_for_all_threads` is false, only the calling thread may use it: the level
    /// of MPI's threads is less than `MPI_THREAD_SERIALIZED`.
    ///
    /// # Errors
    /// [`MpiError`].
    pub fn of_world(is_for_all_threads: bool) -> Result<Self, MpiError> {
        let raw = duplicate_world()?;
        let (rank, size) = place(raw)?;
        let thread = (!is_for_all_threads).then(|| thread::current().id());
        Ok(Self(Arc::new(Inner { raw, rank, size, thread, is_settled: AtomicBool::new(true) })))
    }

    /// Returns the rank of this process.
    pub fn rank(&self) -> u32 {
        self.0.rank
    }

    /// Returns the number of ranks.
    pub fn size(&self) -> u32 {
        self.0.size
    }

    /// Gives each rank the blobs of all. All ranks call this.
    ///
    /// # Errors
    /// [`MpiError`].
    pub fn allgather(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, MpiError> {
        allgather(self, own)
    }

    pub(crate) fn raw(&self) -> ffi::MPI_Comm {
        self.0.raw
    }

    /// Returns an error if this thread may not call MPI.
    pub(crate) fn allow(&self) -> Result<(), MpiError> {
        let is_own = |&thread: &ThreadId| thread == thread::current().id();
        if self.0.thread.as_ref().is_none_or(is_own) { Ok(()) } else { Err(MpiError::Thread) }
    }

    /// Notes if messages may be under way.
    pub(crate) fn settle(&self, is_settled: bool) {
        self.0.is_settled.store(is_settled, Ordering::SeqCst);
    }

    /// Returns true if no message that was sent is under way.
    pub(crate) fn is_settled(&self) -> bool {
        self.0.is_settled.load(Ordering::SeqCst)
    }
}

/// Duplicates `MPI_COMM_WORLD`. Errors of the duplicate are returned by its calls. All ranks call
/// this.
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

/// Gives each rank the blobs of all, which may differ in length. All ranks call this.
///
/// # Errors
/// [`MpiError`].
fn allgather(comm: &Comm, own: &[u8]) -> Result<Vec<Vec<u8>>, MpiError> {
    comm.allow()?;
    let len = c_int::try_from(own.len()).expect("blobs are short");
    let mut lens = vec![0 as c_int; comm.size() as usize];
    // SAFETY: one number leaves, and there is room for that of each rank.
    let code = unsafe {
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
    };
    checked("MPI_Allgather", code)?;
    let mut starts = Vec::with_capacity(lens.len());
    let mut end: c_int = 0;
    for &len in &lens {
        starts.push(end);
        end = end.checked_add(len.max(0)).expect("all blobs together are short");
    }
    let mut all = vec![0u8; end.unsigned_abs() as usize];
    // SAFETY: `own` has `len` bytes, and `all` the places that `starts` and `lens` name.
    let code = unsafe {
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
    };
    checked("MPI_Allgatherv", code)?;
    let blob = |(&start, &len): (&c_int, &c_int)| {
        all[start as usize..start as usize + len.max(0) as usize].to_vec()
    };
    Ok(starts.iter().zip(&lens).map(blob).collect())
}
