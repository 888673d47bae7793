//! Touches memory of the program that the system could not read or write.
//!
//! Payloads go from the sender's memory to the system, and from there into the receiver's. The
//! system call fails if a program names memory that is not mapped, or a receive buffer that can't
//! be written. This must not be reported as the loss of the peer. So the memory is touched here,
//! and the process ends by the signal of a bad access, as it does if a payload is copied.

use std::hint::black_box;

/// The size in bytes of the smallest pages of memory.
const PAGE: usize = 4 << 10;

/// Reads a byte of each page.
pub(crate) fn touch(bytes: &[u8]) {
    for page in bytes.chunks(PAGE) {
        black_box(page[0]);
    }
    black_box(bytes.last());
}

/// Writes a byte of each page without changing its value.
pub(crate) fn touch_mut(bytes: &mut [u8]) {
    for page in bytes.chunks_mut(PAGE) {
        page[0] = black_box(page[0]);
    }
    if let Some(last) = bytes.last_mut() {
        *last = black_box(*last);
    }
}
