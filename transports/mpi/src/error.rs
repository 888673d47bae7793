//! The errors of MPI.
#![allow(unsafe_code)] // MPI writes the text of an error

use mpi_sys as ffi;
use std::ffi::{c_char, c_int};

/// The bytes of the longest text of an error. MPI libraries have at most 1024 bytes.
const TEXT_MAX: usize = 4096;

/// An error of MPI.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MpiError {
    /// A call failed.
    #[error("{call}: {text}")]
    Call {
        /// The name of the call.
        call: &'static str,
        /// MPI's text.
        text: String,
    },
    /// The library grants less than `MPI_THREAD_SERIALIZED`, and a thread calls MPI that has not
    /// initialized it.
    #[error(
        "this MPI library may be called only by the thread that initialized it: make progress in calls (--progress caller)"
    )]
    Thread,
    /// The program has not initialized MPI, or has finalized it.
    #[error("MPI is not initialized: call MPI_Init before, and MPI_Finalize after")]
    NotInitialized,
    /// The blobs of all ranks are too long for one exchange.
    #[error("the processes want to tell each other more than 2 GiB: start fewer of them")]
    TooLong,
}

/// Returns an error if a call failed.
pub(crate) fn checked(call: &'static str, code: c_int) -> Result<(), MpiError> {
    // All MPI libraries have 0 for MPI_SUCCESS, which the standard demands.
    if code == 0 {
        return Ok(());
    }
    let (mut bytes, mut len) = (vec![0u8; TEXT_MAX], 0);
    // SAFETY: the buffer is longer than any library's MPI_MAX_ERROR_STRING, and `len` is valid.
    unsafe { ffi::MPI_Error_string(code, bytes.as_mut_ptr().cast::<c_char>(), &mut len) };
    bytes.truncate(usize::try_from(len).unwrap_or(0).min(TEXT_MAX));
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Err(MpiError::Call { call, text })
}
