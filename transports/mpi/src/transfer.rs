//! Transfers of MPI that own their buffers. The crate `mpi` offers these calls of MPI only with
//! borrowed buffers.
#![allow(unsafe_code)] // MPI reads and writes buffers after its calls have returned

use crate::comm::Comm;
use crate::error::MpiError;
use crate::limits::CANCEL_MAX;
use mpi_sys as ffi;
use std::ffi::c_int;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::time::Instant;

/// The tag of all packets.
const TAG: c_int = 0;

/// A packet that has arrived.
pub(crate) struct Arrived {
    pub(crate) source: u32,
    pub(crate) len: usize,
    pub(crate) buffer: Box<[u8]>,
}

/// A send or a receive under way, which owns its buffer. MPI may use the buffer until the request
/// is complete, so it is freed only then.
pub(crate) struct Transfer {
    request: ffi::MPI_Request,
    buffer: ManuallyDrop<Box<[u8]>>,
    is_receive: bool,
    comm: Comm,
}

// SAFETY: a request may be used by any thread that may call MPI, one at a time. Every use has
// `&mut self`, and `Comm::call` refuses threads that may not call MPI.
unsafe impl Send for Transfer {}

impl Transfer {
    /// Begins to send the first `len` bytes of a buffer.
    ///
    /// # Errors
    /// [`MpiError`].
    pub(crate) fn send(
        comm: &Comm,
        to: u32,
        buffer: Box<[u8]>,
        len: usize,
    ) -> Result<Self, MpiError> {
        assert!(len <= buffer.len() && len <= c_int::MAX as usize);
        // SAFETY: `RSMPI_REQUEST_NULL` and `RSMPI_UINT8_T` are constants of the library.
        let (null, byte) = unsafe { (ffi::RSMPI_REQUEST_NULL, ffi::RSMPI_UINT8_T) };
        let mut transfer = Self::new(comm, null, buffer, false);
        // SAFETY: the buffer has `len` bytes, does not move with its box, and is not written or
        // freed before the request is complete: see `Drop`.
        comm.call("MPI_Isend", || unsafe {
            ffi::MPI_Isend(
                transfer.buffer.as_ptr().cast(),
                len as c_int,
                byte,
                to as c_int,
                TAG,
                comm.raw(),
                &mut transfer.request,
            )
        })?;
        Ok(transfer)
    }

    /// Begins to receive a packet from any rank.
    ///
    /// # Errors
    /// [`MpiError`].
    pub(crate) fn receive(comm: &Comm, buffer: Box<[u8]>) -> Result<Self, MpiError> {
        let len = c_int::try_from(buffer.len()).expect("packets are short");
        // SAFETY: these are constants of the library.
        let (null, byte, any) =
            unsafe { (ffi::RSMPI_REQUEST_NULL, ffi::RSMPI_UINT8_T, ffi::RSMPI_ANY_SOURCE) };
        let mut transfer = Self::new(comm, null, buffer, true);
        // SAFETY: as for a send; nobody reads the buffer before the request is complete.
        comm.call("MPI_Irecv", || unsafe {
            ffi::MPI_Irecv(
                transfer.buffer.as_mut_ptr().cast(),
                len,
                byte,
                any,
                TAG,
                comm.raw(),
                &mut transfer.request,
            )
        })?;
        Ok(transfer)
    }

    fn new(comm: &Comm, request: ffi::MPI_Request, buffer: Box<[u8]>, is_receive: bool) -> Self {
        let buffer = ManuallyDrop::new(buffer);
        Self { request, buffer, is_receive, comm: comm.clone() }
    }

    fn is_over(&self) -> bool {
        // SAFETY: it is a constant of the library.
        self.request == unsafe { ffi::RSMPI_REQUEST_NULL }
    }

    /// Returns the transfer itself if it is not complete, and otherwise its buffer. For a receive,
    /// the result also has the packet's source and length.
    ///
    /// # Errors
    /// [`MpiError`].
    pub(crate) fn test(mut self) -> Result<Result<Arrived, Self>, MpiError> {
        let (mut flag, mut status) = (0, MaybeUninit::<ffi::MPI_Status>::zeroed());
        let request = &mut self.request;
        // SAFETY: the request is one of MPI, and both results are valid places.
        let test = || unsafe { ffi::MPI_Test(request, &mut flag, status.as_mut_ptr()) };
        self.comm.call("MPI_Test", test)?;
        if flag == 0 {
            return Ok(Err(self));
        }
        // SAFETY: a status is integers, which were zeros before MPI wrote to them.
        let status = unsafe { status.assume_init() };
        let mut count = 0;
        if self.is_receive {
            // SAFETY: the status is of a completed receive of bytes.
            let ask = || unsafe { ffi::MPI_Get_count(&status, ffi::RSMPI_UINT8_T, &mut count) };
            self.comm.call("MPI_Get_count", ask)?;
        }
        let source = u32::try_from(status.MPI_SOURCE).unwrap_or(u32::MAX);
        let len = usize::try_from(count).unwrap_or(0).min(self.buffer.len());
        // MPI has set the request to null, so `drop` leaves the rest alone.
        debug_assert!(self.is_over());
        let buffer = std::mem::take(&mut *self.buffer);
        Ok(Ok(Arrived { source, len, buffer }))
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        if !self.is_over() {
            // MPI may still use the buffer of a transfer that does not end. The buffer is leaked
            // then.
            if !self.is_receive || !self.cancel() {
                return;
            }
        }
        // SAFETY: MPI uses it no more, and it is dropped once.
        unsafe { ManuallyDrop::drop(&mut self.buffer) };
    }
}

impl Transfer {
    /// Cancels a receive. Returns true if the receive has ended, with or without a packet, so that
    /// MPI writes no more to its buffer. A receive that has matched a packet ends only with the
    /// sender's help, which may never come.
    fn cancel(&mut self) -> bool {
        let since = Instant::now();
        let request = &mut self.request;
        // SAFETY: the request is one of MPI.
        let cancelled = self.comm.call("MPI_Cancel", || unsafe { ffi::MPI_Cancel(request) });
        let mut flag = 0;
        while cancelled.is_ok() && flag == 0 && since.elapsed() < CANCEL_MAX {
            let request = &mut self.request;
            // SAFETY: the request is one of MPI, and the status is the constant for none.
            let test = || unsafe { ffi::MPI_Test(request, &mut flag, ffi::RSMPI_STATUS_IGNORE) };
            if self.comm.call("MPI_Test", test).is_err() {
                return false;
            }
        }
        flag != 0
    }
}

/// An exchange under way, in which each rank tells each rank a number.
pub(crate) struct Totals {
    request: ffi::MPI_Request,
    comm: Comm,
    own: ManuallyDrop<Box<[u64]>>,
    theirs: ManuallyDrop<Box<[u64]>>,
}

impl Totals {
    /// Begins to tell each rank its number in `own`, which has one number for each rank. All ranks
    /// call this.
    ///
    /// # Errors
    /// [`MpiError`].
    pub(crate) fn tell(comm: &Comm, own: Vec<u64>) -> Result<Self, MpiError> {
        assert_eq!(own.len(), comm.size() as usize);
        let theirs = ManuallyDrop::new(vec![0; own.len()].into());
        let own = ManuallyDrop::new(own.into());
        // SAFETY: these are constants of the library.
        let (null, number) = unsafe { (ffi::RSMPI_REQUEST_NULL, ffi::RSMPI_UINT64_T) };
        let mut totals = Self { request: null, comm: comm.clone(), own, theirs };
        // SAFETY: each buffer has a number for each rank, and is freed only when the request is
        // complete.
        comm.call("MPI_Ialltoall", || unsafe {
            ffi::MPI_Ialltoall(
                totals.own.as_ptr().cast(),
                1,
                number,
                totals.theirs.as_mut_ptr().cast(),
                1,
                number,
                comm.raw(),
                &mut totals.request,
            )
        })?;
        Ok(totals)
    }

    /// Returns the numbers that all ranks told this rank, by rank; `None` until all have. The
    /// numbers are returned only once.
    ///
    /// # Errors
    /// [`MpiError`].
    pub(crate) fn test(&mut self) -> Result<Option<Vec<u64>>, MpiError> {
        let mut flag = 0;
        let request = &mut self.request;
        // SAFETY: the request is one of MPI, and the status is the constant for none.
        let test = || unsafe { ffi::MPI_Test(request, &mut flag, ffi::RSMPI_STATUS_IGNORE) };
        self.comm.call("MPI_Test", test)?;
        if flag == 0 {
            return Ok(None);
        }
        drop(std::mem::take(&mut *self.own));
        Ok(Some(std::mem::take(&mut *self.theirs).into()))
    }
}
