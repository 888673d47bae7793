//! Makes memory resident before it is used. Otherwise the first instance of a schedule would wait
//! for the system to allocate pages one by one.
//!
//! The system allocates a page on the NUMA node of the processor that first writes it. So a rank
//! does this for its own areas, after it was bound to a processor. Areas of 2 MiB and more become
//! huge pages if the system allows that. Huge pages are allocated many times faster than the same
//! bytes in pages of 4 KiB. Peers that read the memory need one page table entry for each huge
//! page.
#![allow(unsafe_code)] // system calls on memory that this process has mapped

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, Ordering};

/// The size of a page in bytes.
pub(super) const PAGE: usize = 4096;
/// The size of a huge page in bytes.
pub(super) const HUGE_PAGE: usize = 2 << 20;

/// Makes `len` bytes at `start` resident and writable without a page fault. Returns the number of
/// bytes that are resident: `len`, or fewer if the system has no more memory.
///
/// # Safety
/// The bytes are mapped, readable and writable, until the call returns. During the call, this
/// process accesses them by atomics only. Other processes may access them in any way.
pub(super) unsafe fn populate(start: NonNull<u8>, len: usize) -> usize {
    let (page, huge) = (PAGE, HUGE_PAGE);
    let address = start.addr().get();
    let first = (address.next_multiple_of(huge) - address).min(len);
    let last = first + (len - first) / huge * huge;
    for at in (first..last).step_by(huge) {
        // SAFETY: inside the range.
        let block = unsafe { start.add(at) };
        // The system refuses to make a huge page of a block without any page. If a block has one,
        // the system adds zeros at once for the others.
        // SAFETY: the caller's promise.
        let is_huge = unsafe {
            allocate(block, page).is_ok() && advise(block, huge, libc::MADV_COLLAPSE).is_ok()
        };
        if !is_huge {
            break;
        }
    }
    // Allocates all other pages. Pages that are resident take next to no time.
    for at in (0..len).step_by(huge) {
        // SAFETY: inside the range; otherwise the caller's promise.
        if unsafe { allocate(start.add(at), huge.min(len - at)) }.is_err() {
            return at;
        }
    }
    len
}

/// Maps resident bytes in this process's page table, without a write. If that fails, the system
/// maps them when they are first read.
pub fn populate_read(bytes: &[u8]) {
    if let Some(start) = NonNull::new(bytes.as_ptr().cast_mut()).filter(|_| !bytes.is_empty()) {
        // SAFETY: the bytes are mapped and readable as long as the reference lives, and so are the
        // pages that they lie in. Nothing is written.
        let _ = unsafe { advise(start, bytes.len(), libc::MADV_POPULATE_READ) };
    }
}

/// Makes the pages of `len` bytes at `start` resident.
///
/// # Safety
/// The contract of [`populate`].
unsafe fn allocate(start: NonNull<u8>, len: usize) -> io::Result<()> {
    // SAFETY: the caller's promise; the system changes no byte.
    match unsafe { advise(start, len, libc::MADV_POPULATE_WRITE) } {
        // Kernels before 5.14 do not know the advice.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            for at in (0..len).step_by(PAGE) {
                // SAFETY: inside the range. Adding no bit leaves the byte as it is, and the access
                // is atomic.
                unsafe { start.add(at).cast::<AtomicU8>().as_ref() }.fetch_or(0, Ordering::Relaxed);
            }
            Ok(())
        }
        advised => advised,
    }
}

/// Calls `madvise` with `advice` for all pages that overlap a range.
///
/// # Safety
/// The pages are mapped, and the advice changes none of their bytes.
unsafe fn advise(start: NonNull<u8>, len: usize, advice: libc::c_int) -> io::Result<()> {
    let inside = start.addr().get() % PAGE;
    loop {
        // SAFETY: the caller's promise.
        let advised = unsafe {
            libc::madvise(start.as_ptr().wrapping_sub(inside).cast(), len + inside, advice)
        };
        match advised {
            0 => return Ok(()),
            _ => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => {}
                error => return Err(error),
            },
        }
    }
}
