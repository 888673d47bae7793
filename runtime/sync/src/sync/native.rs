//! The machine's own atomics, with cells and futexes over them, and bells.
#![allow(unsafe_code)] // bytes that several processes access in turn

use super::LINE;
use rustix::thread::futex::{self, Flags, Timespec};
use rustix::thread::{MembarrierCommand, membarrier_query};
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::Deref;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::atomic::{Ordering, compiler_fence};
use std::time::Duration;

pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, fence};

/// Keeps the compiler from moving the caller's loads before its stores. Together with a
/// [`membarrier`] of another thread this is a full fence.
#[inline(always)]
pub(crate) fn light_fence() {
    compiler_fence(Ordering::SeqCst);
}

/// Runs a full fence in the caller, and in all threads of registered processes. Returns false if
/// the system refuses.
pub(crate) fn membarrier() -> bool {
    rustix::thread::membarrier(MembarrierCommand::GlobalExpedited).is_ok()
}

/// Registers this process for each [`membarrier`] of any process. Returns false if the system does
/// not have that, or refuses it.
pub(crate) fn register_for_membarrier() -> bool {
    membarrier_query().contains_command(MembarrierCommand::GlobalExpedited)
        && rustix::thread::membarrier(MembarrierCommand::RegisterGlobalExpedited).is_ok()
}

/// The most bytes to prefetch at a time. Prefetches of more would queue behind the first ones.
const EXPECTED_MAX: usize = 1024;

/// A value that several processes access in turn. A protocol over atomics decides the turns.
#[derive(Debug, Default)]
#[repr(transparent)]
pub(crate) struct SharedCell<T>(UnsafeCell<T>);

// SAFETY: all access goes through the two unsafe methods, whose callers exclude each other.
unsafe impl<T: Send> Sync for SharedCell<T> {}

impl<T> SharedCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// Passes the value to `read`.
    ///
    /// # Safety
    /// Nobody writes the value meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn with<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        // SAFETY: the caller's promise.
        read(unsafe { &*self.0.get() })
    }

    /// Lets `write` change the value.
    ///
    /// # Safety
    /// Nobody else reads or writes the value meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn with_mut<R>(&self, write: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: the caller's promise.
        write(unsafe { &mut *self.0.get() })
    }
}

/// Bytes that are lent to a reader.
pub type Lent<'a> = &'a [u8];

impl<const BYTES: usize> SharedCell<[u8; BYTES]> {
    /// Lends the first `len` bytes.
    ///
    /// # Safety
    /// `len` is at most the number of bytes. Nobody writes them as long as the result is used.
    #[inline(always)]
    pub(crate) unsafe fn lend(&self, len: usize) -> Lent<'_> {
        debug_assert!(len <= BYTES);
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(self.0.get().cast::<u8>(), len) }
    }
}

/// Lines of bytes that lie beside the words that guard them. Several processes access runs of lines
/// in turn.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Block<const LINES: usize>(SharedCell<[[u8; LINE]; LINES]>);

impl<const LINES: usize> Default for Block<LINES> {
    fn default() -> Self {
        Self(SharedCell::new([[0; LINE]; LINES]))
    }
}

impl<const LINES: usize> Block<LINES> {
    /// Lets `write` change the `len` bytes from line `line` on.
    ///
    /// # Safety
    /// The bytes end before the block does. Nobody else reads or writes their lines meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn with_mut<R>(
        &self,
        line: usize,
        len: usize,
        write: impl FnOnce(&mut [u8]) -> R,
    ) -> R {
        // SAFETY: the caller's promise.
        write(unsafe { std::slice::from_raw_parts_mut(self.run(line, len), len) })
    }

    /// Lends the `len` bytes from line `line` on.
    ///
    /// # Safety
    /// The bytes end before the block does. Nobody writes their lines as long as the result is
    /// used.
    #[inline(always)]
    pub(crate) unsafe fn lend(&self, line: usize, len: usize) -> Lent<'_> {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(self.run(line, len), len) }
    }

    #[inline(always)]
    fn run(&self, line: usize, len: usize) -> *mut u8 {
        debug_assert!(line < LINES && len <= (LINES - line) * LINE);
        self.0.0.get().cast::<u8>().wrapping_add(line * LINE)
    }
}

/// Whole cache lines of bytes. Several processes access runs of lines in turn.
///
/// Invariant: `start` is the first of `len` initialised bytes that live as long as `'a`, and all
/// access to them goes through this type.
#[derive(Clone, Copy)]
pub struct Bytes<'a> {
    start: NonNull<u8>,
    len: usize,
    lives: PhantomData<&'a UnsafeCell<u8>>,
}

// SAFETY: as for `SharedCell`.
unsafe impl Send for Bytes<'_> {}
// SAFETY: as for `SharedCell`.
unsafe impl Sync for Bytes<'_> {}

impl<'a> Bytes<'a> {
    /// Creates a view of the `len` bytes at `start`.
    ///
    /// # Safety
    /// They are initialised and live as long as `'a`, and all access to them goes through this
    /// type.
    #[inline]
    pub unsafe fn new(start: NonNull<u8>, len: usize) -> Self {
        Self { start, len, lives: PhantomData }
    }

    /// Returns the number of lines.
    #[inline]
    pub(crate) fn lines(&self) -> usize {
        self.len / LINE
    }

    /// Returns a view of `lines` lines, from `first` on.
    ///
    /// # Panics
    /// If the run goes beyond the last line.
    #[inline]
    pub(crate) fn part(&self, first: usize, lines: usize) -> Self {
        let start = self.run(first, lines * LINE);
        Self { start, len: lines * LINE, lives: PhantomData }
    }

    /// Passes the `len` bytes from line `line` on to `read`.
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

    /// Lets `write` change the `len` bytes from line `line` on.
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

    /// Prefetches the beginning of the `len` bytes at line `line`, because the caller reads them
    /// soon.
    #[inline(always)]
    pub(crate) fn expect_read(&self, line: usize, len: usize) {
        let start = self.run(line, len);
        for at in (0..len.min(EXPECTED_MAX)).step_by(LINE) {
            prefetch::<false>(start.as_ptr().wrapping_add(at));
        }
    }

    /// Prefetches the beginning of the `len` bytes at line `line`, because the caller writes them
    /// soon.
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
        // SAFETY: inside the bytes by the assertion.
        unsafe { self.start.add(at) }
    }
}

/// Brings a line into the cache, for reading or for writing. This accesses no memory and never
/// faults.
#[inline(always)]
fn prefetch<const WRITE: bool>(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetches have no effect on memory or flags, whatever the address.
    unsafe {
        // Not the intrinsic: for a generic x86-64 target it emits a prefetch for reading.
        if WRITE {
            std::arch::asm!("prefetchw [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
        } else {
            std::arch::asm!("prefetcht0 [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// A word in which processes sleep until another one changes it and wakes them.
#[derive(Debug, Default)]
#[repr(transparent)]
pub(crate) struct Futex(AtomicU32);

impl Futex {
    /// Sets the word, without any order.
    #[inline(always)]
    pub(crate) fn set(&self, value: u32) {
        self.0.store(value, Ordering::Relaxed);
    }

    /// Sleeps if the word is `expected`, until somebody wakes it or `limit` has passed. It may
    /// return early, so the caller must check its condition again.
    pub(crate) fn wait(&self, expected: u32, limit: Option<Duration>) {
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        let _ = futex::wait(&self.0, Flags::empty(), expected, limit.as_ref());
    }

    /// Wakes everybody who sleeps in the word.
    pub(crate) fn wake(&self) {
        // Fails only if the address is not mapped.
        let _ = futex::wake(&self.0, Flags::empty(), u32::MAX >> 1);
    }
}

impl Deref for Futex {
    type Target = AtomicU32;

    fn deref(&self) -> &AtomicU32 {
        &self.0
    }
}

/// The eventfd that wakes a rank from `poll(2)`, if the rank has one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bell<'a>(Option<BorrowedFd<'a>>);

impl<'a> Bell<'a> {
    /// Creates a bell with this descriptor.
    #[inline]
    pub fn new(descriptor: Option<BorrowedFd<'a>>) -> Self {
        Self(descriptor)
    }

    /// Returns the descriptor; `None` if the rank has no bell. It is readable from a ring until
    /// [`Bell::drain`].
    pub fn descriptor(self) -> Option<BorrowedFd<'a>> {
        self.0
    }

    /// Makes the descriptor readable. Does nothing if the rank has no bell.
    pub(crate) fn ring(self) {
        if let Some(descriptor) = self.0 {
            // Fails if the counter is at its maximum; then the descriptor is readable anyway.
            let _ = rustix::io::write(descriptor, &1u64.to_ne_bytes());
        }
    }

    /// Makes the descriptor unreadable again, until the next ring.
    pub fn drain(self) {
        if let Some(descriptor) = self.0 {
            // Fails if nobody has rung.
            let _ = rustix::io::read(descriptor, &mut [0u8; 8][..]);
        }
    }
}
