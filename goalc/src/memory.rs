//! Handles the exhaustion of memory: the process ends with a message and exit status 2, where the
//! standard library would abort.
//!
//! The limits on programs refuse most excessive requests by name. This is for the rest, and for
//! machines with little memory. `unsafe`: the functions of an allocator are unsafe.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator for a command. The first request that the system refuses ends the
/// process, so `try_reserve` never fails.
#[derive(Debug)]
pub struct Allocator {
    /// The command's name, for the message.
    pub program: &'static str,
}

// SAFETY: every request goes to the system's allocator as it is, and so does what it returns; a
// null pointer is never returned.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those of the system's allocator.
        let memory = unsafe { System.alloc(layout) };
        self.some(memory, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        let memory = unsafe { System.alloc_zeroed(layout) };
        self.some(memory, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as in `alloc`.
        let memory = unsafe { System.realloc(memory, layout, size) };
        self.some(memory, size)
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as in `alloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}

impl Allocator {
    #[inline]
    fn some(&self, memory: *mut u8, size: usize) -> *mut u8 {
        if memory.is_null() {
            self.exhausted(size)
        }
        memory
    }

    /// Ends the process at once, on any thread. It neither allocates nor takes a lock, and runs no
    /// destructors, because these might. Unfinished files have no name yet, or a temporary one.
    #[cold]
    fn exhausted(&self, size: usize) -> ! {
        let mut digits = [0; 20];
        let parts: [&[u8]; 4] = [
            self.program.as_bytes(),
            b": out of memory: the system refuses ",
            decimal(size, &mut digits),
            b" bytes more; give the process more (ulimit -v, the machine's memory), or a smaller program\n",
        ];
        let mut message = [0u8; 256];
        let mut length = 0;
        for part in parts {
            let part = &part[..part.len().min(message.len() - length)];
            message[length..length + part.len()].copy_from_slice(part);
            length += part.len();
        }
        // SAFETY: the bytes are those of `message`. Nothing else can be done if they can't be
        // written.
        unsafe { libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), length) };
        // SAFETY: ends the process, without anything of it running on.
        unsafe { libc::_exit(2) }
    }
}

/// A number's digits, at the end of `digits`.
fn decimal(mut number: usize, digits: &mut [u8; 20]) -> &[u8] {
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[start..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::decimal;

    #[test]
    fn numbers_are_written_without_allocating() {
        for number in [0, 7, 10, 1 << 20, usize::MAX] {
            assert_eq!(decimal(number, &mut [0; 20]), number.to_string().as_bytes());
        }
    }
}
