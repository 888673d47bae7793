//! The system call that copies from another process. `unsafe`: it is not in rustix.
#![allow(unsafe_code)]

use rustix::io::Errno;
use rustix::process::Pid;

/// Copies bytes of a process from `address` on.
///
/// # Errors
/// What the system says; [`Errno::FAULT`] where not all of them are mapped.
pub(super) fn exact(process: Pid, address: u64, into: &mut [u8]) -> Result<(), Errno> {
    let mut done = 0;
    while done < into.len() {
        let rest = &mut into[done..];
        let local = libc::iovec { iov_base: rest.as_mut_ptr().cast(), iov_len: rest.len() };
        let remote = libc::iovec {
            iov_base: std::ptr::without_provenance_mut((address as usize).wrapping_add(done)),
            iov_len: rest.len(),
        };
        // SAFETY: the system writes to `local` only, which is exclusively borrowed; `remote` is an
        // address of another process, which it checks.
        let copied = unsafe {
            libc::process_vm_readv(process.as_raw_nonzero().get(), &local, 1, &remote, 1, 0)
        };
        match copied {
            ..0 => match Errno::from_io_error(&std::io::Error::last_os_error()) {
                Some(Errno::INTR) => {}
                error => return Err(error.unwrap_or(Errno::IO)),
            },
            0 => return Err(Errno::FAULT),
            _ => done += copied as usize,
        }
    }
    Ok(())
}
