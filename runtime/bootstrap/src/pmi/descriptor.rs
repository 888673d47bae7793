//! Takes the descriptor that a launcher passed by its number.
//!
//! Threat: the environment may state any number, even that of a descriptor that this process opened
//! for another purpose. Only a socket is accepted, and the descriptor itself is never closed.
#![allow(unsafe_code)] // a number from the environment becomes a descriptor

use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};

/// Returns true if `descriptor` is an open socket of this process.
pub(crate) fn is_socket(descriptor: RawFd) -> bool {
    let target = std::fs::read_link(format!("/proc/self/fd/{descriptor}"));
    descriptor >= 0
        && target.is_ok_and(|target| target.as_os_str().as_encoded_bytes().starts_with(b"socket:"))
}

/// Returns a copy of an inherited socket. Programs that this process starts later inherit neither
/// the copy nor the original.
///
/// # Errors
/// The descriptor is not an open socket, or the system's error.
pub(crate) fn take(descriptor: RawFd) -> io::Result<OwnedFd> {
    if !is_socket(descriptor) {
        return Err(io::Error::other(format!("PMI_FD={descriptor} is not an open socket")));
    }
    // SAFETY: the descriptor was open a moment ago, and nothing in this crate closes it. The
    // borrow ends with this function. If another thread closes the number meanwhile, the calls
    // below fail or copy another descriptor; they access no memory through it.
    let inherited = unsafe { BorrowedFd::borrow_raw(descriptor) };
    let copy = fcntl_dupfd_cloexec(inherited, 3)?;
    fcntl_setfd(inherited, FdFlags::CLOEXEC)?;
    Ok(copy)
}
