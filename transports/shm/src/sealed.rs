//! Sealed memory files, whose bytes can't change any more. A schedule lies in one.
#![allow(unsafe_code)] // shares constant memory and hands out a slice of it

use super::mapping::{map, unmap};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, memfd_create};
use rustix::mm::{MapFlags, ProtFlags};
use std::fs::File;
use std::io::{self, Write};
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;

/// The seals that keep the size and the bytes of a memory file.
const SEALS: SealFlags =
    SealFlags::WRITE.union(SealFlags::SHRINK).union(SealFlags::GROW).union(SealFlags::SEAL);

/// Constant bytes: a sealed memory file, mapped read-only.
///
/// Invariant: the seals are set before the file is mapped. So the bytes are constant, and a shared
/// slice of them is sound whatever other processes do.
#[derive(Debug)]
pub struct Sealed {
    ptr: NonNull<u8>,
    len: usize,
    fd: OwnedFd,
}

// SAFETY: constant memory.
unsafe impl Send for Sealed {}
// SAFETY: constant memory.
unsafe impl Sync for Sealed {}

impl Sealed {
    /// Copies `bytes` into a new memory file and seals it.
    ///
    /// # Errors
    /// The system's error.
    pub fn copy_of(bytes: &[u8]) -> io::Result<Self> {
        let fd =
            memfd_create("goal-run schedule", MemfdFlags::ALLOW_SEALING | MemfdFlags::CLOEXEC)?;
        let mut file = File::from(fd);
        file.write_all(bytes)?;
        let fd = OwnedFd::from(file);
        fcntl_add_seals(&fd, SEALS)?;
        Self::open(fd)
    }

    /// Maps a sealed memory file.
    ///
    /// # Errors
    /// The system's error; [`io::ErrorKind::InvalidInput`] if a seal is missing.
    pub fn open(fd: OwnedFd) -> io::Result<Self> {
        if !fcntl_get_seals(&fd).is_ok_and(|seals| seals.contains(SEALS)) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a memory file is not sealed"));
        }
        let file = File::from(fd);
        let len = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        let fd = OwnedFd::from(file);
        let ptr = map(fd.as_fd(), len, ProtFlags::READ, MapFlags::SHARED)?;
        Ok(Self { ptr, len, fd })
    }

    /// The memory file.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Deref for Sealed {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: a live mapping of `len` bytes that the seals keep constant.
        unsafe { std::slice::from_raw_parts(self.ptr.as_ptr(), self.len) }
    }
}

impl Drop for Sealed {
    fn drop(&mut self) {
        unmap(self.ptr, self.len);
    }
}
