//! The machine's own. `unsafe`: bytes that several processes read and write in turn.
#![allow(unsafe_code)]

use super::LINE;
use rustix::thread::futex::{self, Flags, Timespec};
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;
use std::time::Duration;

pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, fence};

/// Bytes that are asked for in advance: more would wait for the ones before.
const EXPECTED_MAX: usize = 1024;

/// A value that is written and read in turn; whose turn it is, a protocol over atomics decides.
#[derive(Debug, Default)]
#[repr(transparent)]
pub(crate) struct Shared<T>(UnsafeCell<T>);

// SAFETY: all access is by the two unsafe methods, whose callers see to it that it excludes each
// other.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// Shows the value to `read`.
    ///
    /// # Safety
    /// Nobody writes it meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn with<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        // SAFETY: the caller's promise.
        read(unsafe { &*self.0.get() })
    }

    /// Lets `write` change the value.
    ///
    /// # Safety
    /// Nobody else reads or writes it meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn with_mut<R>(&self, write: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: the caller's promise.
        write(unsafe { &mut *self.0.get() })
    }
}

/// Whole cache lines of bytes, of which runs are written and read in turn.
///
/// Invariant: `start` is the first of `len` initialised bytes that live as long as `'a`, and
/// nothing but this type reaches them.
#[derive(Clone, Copy)]
pub(crate) struct Bytes<'a> {
    start: NonNull<u8>,
    len: usize,
    lives: PhantomData<&'a UnsafeCell<u8>>,
}

// SAFETY: as for `Shared`.
unsafe impl Send for Bytes<'_> {}
// SAFETY: as for `Shared`.
unsafe impl Sync for Bytes<'_> {}

impl<'a> Bytes<'a> {
    /// The `len` bytes at `start`.
    ///
    /// # Safety
    /// They are initialised, live as long as `'a`, and are reached in no other way.
    pub(crate) unsafe fn new(start: NonNull<u8>, len: usize) -> Self {
        Self { start, len, lives: PhantomData }
    }

    /// Number of lines.
    pub(crate) fn lines(&self) -> usize {
        self.len / LINE
    }

    /// The lines from `first` on.
    ///
    /// # Panics
    /// If they are not all there.
    #[inline]
    pub(crate) fn part(&self, first: usize, lines: usize) -> Self {
        let start = self.run(first, lines * LINE);
        Self { start, len: lines * LINE, lives: PhantomData }
    }

    /// Shows `len` bytes from line `line` on to `read`.
    ///
    /// # Safety
    /// Nobody writes these lines meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn with<R>(
        &self,
        line: usize,
        len: usize,
        read: impl FnOnce(&[u8]) -> R,
    ) -> R {
        // SAFETY: inside the bytes by the check in `run`; the rest is the caller's promise.
        read(unsafe { std::slice::from_raw_parts(self.run(line, len).as_ptr(), len) })
    }

    /// Lets `write` change `len` bytes from line `line` on.
    ///
    /// # Safety
    /// Nobody else reads or writes these lines meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn with_mut<R>(
        &self,
        line: usize,
        len: usize,
        write: impl FnOnce(&mut [u8]) -> R,
    ) -> R {
        // SAFETY: as in `with`.
        write(unsafe { std::slice::from_raw_parts_mut(self.run(line, len).as_ptr(), len) })
    }

    /// Asks for the first lines of `len` bytes from line `line` on, to be read soon.
    #[inline(always)]
    pub(crate) fn expect_read(&self, line: usize, len: usize) {
        let start = self.run(line, len);
        for at in (0..len.min(EXPECTED_MAX)).step_by(LINE) {
            prefetch::<false>(start.as_ptr().wrapping_add(at));
        }
    }

    /// Asks for the first lines of `len` bytes from line `line` on, to be written soon.
    #[inline(always)]
    pub(crate) fn expect_write(&self, line: usize, len: usize) {
        let start = self.run(line, len);
        for at in (0..len.min(EXPECTED_MAX)).step_by(LINE) {
            prefetch::<true>(start.as_ptr().wrapping_add(at));
        }
    }

    #[inline(always)]
    fn run(&self, line: usize, len: usize) -> NonNull<u8> {
        let at = line * LINE;
        assert!(at <= self.len && len <= self.len - at, "{len} bytes at {at} of {}", self.len);
        // SAFETY: inside the bytes by the line above.
        unsafe { self.start.add(at) }
    }
}

/// Brings a line into the cache, for reading or for writing. It reads and writes nothing and never
/// faults.
#[inline(always)]
fn prefetch<const WRITE: bool>(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetches have no effect on memory or flags, whatever the address.
    unsafe {
        // The intrinsic makes a prefetch for reading of this where the target is any x86-64.
        if WRITE {
            std::arch::asm!("prefetchw [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
        } else {
            std::arch::asm!("prefetcht0 [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// A word that processes sleep in until it changes and they are woken.
#[derive(Debug, Default)]
#[repr(transparent)]
pub(crate) struct Futex(AtomicU32);

impl Futex {
    /// Sleeps if the word is `expected`: until woken, until `limit` has passed, or less; so the
    /// caller looks again.
    pub(crate) fn wait(&self, expected: u32, limit: Option<Duration>) {
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        let _ = futex::wait(&self.0, Flags::empty(), expected, limit.as_ref());
    }

    /// Wakes all that sleep.
    pub(crate) fn wake(&self) {
        // Fails only for an address that is not mapped.
        let _ = futex::wake(&self.0, Flags::empty(), u32::MAX >> 1);
    }
}

impl Deref for Futex {
    type Target = AtomicU32;

    fn deref(&self) -> &AtomicU32 {
        &self.0
    }
}
