//! The calls of MPI that `mpi` offers only with borrowed buffers: transfers that own theirs.
#![allow(unsafe_code)] // MPI reads and writes buffers after its calls have returned

use crate::comm::Comm;
use crate::error::{MpiError, checked};
use mpi::ffi;
use std::ffi::c_int;
use std::mem::{ManuallyDrop, MaybeUninit};

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
// `&mut self`, and `Comm::allow` refuses threads that may not call MPI.
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
        comm.allow()?;
        assert!(len <= buffer.len() && len <= c_int::MAX as usize);
        // SAFETY: `RSMPI_REQUEST_NULL` and `RSMPI_UINT8_T` are constants of the library.
        let (null, byte) = unsafe { (ffi::RSMPI_REQUEST_NULL, ffi::RSMPI_UINT8_T) };
        let mut transfer = Self::new(comm, null, buffer, false);
        // SAFETY: the buffer has `len` bytes, does not move with its box, and is not written or
        // freed before the request is complete: see `Drop`.
        let code = unsafe {
            ffi::MPI_Isend(
                transfer.buffer.as_ptr().cast(),
                len as c_int,
                byte,
                to as c_int,
                TAG,
                comm.raw(),
                &mut transfer.request,
            )
        };
        checked("MPI_Isend", code).map(|()| transfer)
    }

    /// Begins to receive a packet from any rank.
    ///
    /// # Errors
    /// [`MpiError`].
    pub(crate) fn receive(comm: &Comm, buffer: Box<[u8]>) -> Result<Self, MpiError> {
        comm.allow()?;
        let len = c_int::try_from(buffer.len()).expect("packets are short");
        // SAFETY: these are constants of the library.
        let (null, byte, any) =
            unsafe { (ffi::RSMPI_REQUEST_NULL, ffi::RSMPI_UINT8_T, ffi::RSMPI_ANY_SOURCE) };
        let mut transfer = Self::new(comm, null, buffer, true);
        // SAFETY: as for a send; nobody reads the buffer before the request is complete.
        let code = unsafe {
            ffi::MPI_Irecv(
                transfer.buffer.as_mut_ptr().cast(),
                len,
                byte,
                any,
                TAG,
                comm.raw(),
                &mut transfer.request,
            )
        };
        checked("MPI_Irecv", code).map(|()| transfer)
    }

    fn new(comm: &Comm, request: ffi::MPI_Request, buffer: Box<[u8]>, is_receive: bool) -> Self {
        let buffer = ManuallyDrop::new(buffer);
        Self { request, buffer, is_receive, comm: comm.clone() }
    }

    fn is_over(&self) -> bool {
        // SAFETY: it is a constant of the library.
        self.request == unsafe { ffi::RSMPI_REQUEST_NULL }
    }

    /// Returns the buffer and, of a receive, where it came from and its length, if the transfer is
    /// complete.
    ///
    /// # Errors
    /// [`MpiError`].
    pub(crate) fn test(mut self) -> Result<Result<Arrived, Self>, MpiError> {
        self.comm.allow()?;
        let (mut flag, mut status) = (0, MaybeUninit::<ffi::MPI_Status>::zeroed());
        // SAFETY: the request is one of MPI, and both results are valid places.
        let code = unsafe { ffi::MPI_Test(&mut self.request, &mut flag, status.as_mut_ptr()) };
        checked("MPI_Test", code)?;
        if flag == 0 {
            return Ok(Err(self));
        }
        // SAFETY: a status is integers, which were zeros before MPI wrote to them.
        let status = unsafe { status.assume_init() };
        let mut count = 0;
        if self.is_receive {
            // SAFETY: the status is of a completed receive of bytes.
            let code = unsafe { ffi::MPI_Get_count(&status, ffi::RSMPI_UINT8_T, &mut count) };
            checked("MPI_Get_count", code)?;
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
            if self.comm.allow().is_err() || !self.is_receive {
                // MPI may still read it. The process ends soon.
                return;
            }
            // SAFETY: the request is one of MPI. A receive that is cancelled completes, with or
            // without a packet, and no more is written to its buffer then.
            let code = unsafe {
                ffi::MPI_Cancel(&mut self.request);
                ffi::MPI_Wait(&mut self.request, ffi::RSMPI_STATUS_IGNORE)
            };
            if code != 0 {
                return;
            }
        }
        // SAFETY: MPI uses it no more, and it is dropped once.
        unsafe { ManuallyDrop::drop(&mut self.buffer) };
    }
}

/// An exchange of a number between all ranks, under way.
pub(crate) struct Totals {
    request: ffi::MPI_Request,
    own: ManuallyDrop<Box<[u64]>>,
    theirs: ManuallyDrop<Box<[u64]>>,
}

impl Totals {
    /// Begins to tell each rank its number. All ranks call this.
    ///
    /// # Errors
    /// [`MpiError`].
    pub(crate) fn tell(comm: &Comm, own: Vec<u64>) -> Result<Self, MpiError> {
        comm.allow()?;
        assert_eq!(own.len(), comm.size() as usize);
        let theirs = ManuallyDrop::new(vec![0; own.len()].into());
        let own = ManuallyDrop::new(own.into());
        // SAFETY: these are constants of the library.
        let (null, number) = unsafe { (ffi::RSMPI_REQUEST_NULL, ffi::RSMPI_UINT64_T) };
        let mut totals = Self { request: null, own, theirs };
        // SAFETY: each buffer has a number for each rank, and is freed only when the request is
        // complete.
        let code = unsafe {
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
        };
        checked("MPI_Ialltoall", code).map(|()| totals)
    }

    /// Returns the numbers that all ranks told this one, if they have. They are returned once.
    ///
    /// # Errors
    /// [`MpiError`].
    pub(crate) fn test(&mut self) -> Result<Option<Vec<u64>>, MpiError> {
        let mut flag = 0;
        // SAFETY: the request is one of MPI, and the status is the constant for none.
        let code = unsafe { ffi::MPI_Test(&mut self.request, &mut flag, ffi::RSMPI_STATUS_IGNORE) };
        checked("MPI_Test", code)?;
        if flag == 0 {
            return Ok(None);
        }
        drop(std::mem::take(&mut *self.own));
        Ok(Some(std::mem::take(&mut *self.theirs).into()))
    }
}
