//! Loom's counterparts of `native`. They have other sizes, so none of them is ever cast from a
//! mapping.
#![allow(unsafe_code)] // cells whose accesses loom checks

use super::LINE;
use loom::cell::UnsafeCell;
use loom::sync::{Condvar, Mutex};
use std::marker::PhantomData;
use std::ops::Deref;
use std::time::Duration;

pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, fence};

/// A full fence. The light fence and [`membarrier`] order two threads as two full fences do.
pub(crate) fn light_fence() {
    fence(super::Ordering::SeqCst);
}

pub(crate) fn membarrier() -> bool {
    fence(super::Ordering::SeqCst);
    true
}

pub(crate) fn register_for_membarrier() -> bool {
    true
}

/// A value. Loom fails a model in which two accesses to it race.
#[derive(Debug, Default)]
pub(crate) struct SharedCell<T>(UnsafeCell<T>);

// SAFETY: loom fails a model in which two accesses race.
unsafe impl<T: Send> Sync for SharedCell<T> {}

impl<T> SharedCell<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    pub(crate) unsafe fn with<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        // SAFETY: the caller's promise, which loom checks.
        self.0.with(|value| read(unsafe { &*value }))
    }

    pub(crate) unsafe fn with_mut<R>(&self, write: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: as above.
        self.0.with_mut(|value| write(unsafe { &mut *value }))
    }
}

/// Bytes that are lent to a reader. Loom records the access until this is dropped.
pub struct Lent<'a> {
    bytes: &'a [u8],
    _accesses: Vec<Access>,
}

/// An access to a line for reading, without its value.
type Access = Box<dyn std::any::Any>;

impl Deref for Lent<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes
    }
}

impl<const BYTES: usize> SharedCell<[u8; BYTES]> {
    pub(crate) unsafe fn lend(&self, len: usize) -> Lent<'_> {
        let access = self.0.get();
        // SAFETY: loom has recorded this access and fails the model if somebody writes meanwhile.
        let all: *const [u8; BYTES] = unsafe { access.deref() };
        // SAFETY: as above. The cell lives as long as self.
        let bytes = unsafe { &(&*all)[..len] };
        Lent { bytes, _accesses: vec![Box::new(access)] }
    }
}

/// Lines of bytes. Each has a cell, which loom checks for races.
pub(crate) struct Block<const LINES: usize>(Lines);

impl<const LINES: usize> Default for Block<LINES> {
    fn default() -> Self {
        Self(Lines::new(LINES))
    }
}

impl<const LINES: usize> std::fmt::Debug for Block<LINES> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Block")
    }
}

impl<const LINES: usize> Block<LINES> {
    pub(crate) unsafe fn with_mut<R>(
        &self,
        line: usize,
        len: usize,
        write: impl FnOnce(&mut [u8]) -> R,
    ) -> R {
        // SAFETY: the caller's promise, which loom checks.
        unsafe { self.0.all().with_mut(line, len, write) }
    }

    pub(crate) unsafe fn lend(&self, line: usize, len: usize) -> Lent<'_> {
        let all = self.0.all();
        let access = |line: &UnsafeCell<()>| -> Access { Box::new(line.get()) };
        let accesses = all.touched(line, len).iter().map(access).collect();
        let start = line * LINE;
        // SAFETY: loom has recorded this access and fails the model if somebody writes meanwhile.
        let bytes = unsafe { &(&*self.0.bytes.get())[start..start + len] };
        Lent { bytes, _accesses: accesses }
    }
}

/// The memory of a [`Bytes`]. Each line has a cell, which loom checks for races.
pub(crate) struct Lines {
    bytes: std::cell::UnsafeCell<Box<[u8]>>,
    accesses: Vec<UnsafeCell<()>>,
}

// SAFETY: as for `SharedCell`.
unsafe impl Sync for Lines {}
// SAFETY: as for `SharedCell`.
unsafe impl Send for Lines {}

impl Lines {
    pub(crate) fn new(lines: usize) -> Self {
        Self {
            bytes: std::cell::UnsafeCell::new(vec![0; lines * LINE].into()),
            accesses: (0..lines).map(|_| UnsafeCell::new(())).collect(),
        }
    }

    pub(crate) fn all(&self) -> Bytes<'_> {
        Bytes { lines: self, first: 0, len: self.accesses.len() }
    }
}

/// Whole cache lines of bytes.
#[derive(Clone, Copy)]
pub struct Bytes<'a> {
    lines: &'a Lines,
    first: usize,
    len: usize,
}

impl Bytes<'_> {
    /// Panics, because models have no mapping and allocate [`Lines`].
    ///
    /// # Safety
    /// None.
    pub unsafe fn new(_: std::ptr::NonNull<u8>, _: usize) -> Self {
        panic!("a model has no mapping");
    }

    pub(crate) fn lines(&self) -> usize {
        self.len
    }

    pub(crate) fn part(&self, first: usize, lines: usize) -> Self {
        assert!(first + lines <= self.len);
        Self { lines: self.lines, first: self.first + first, len: lines }
    }

    pub(crate) unsafe fn with<R>(
        &self,
        line: usize,
        len: usize,
        read: impl FnOnce(&[u8]) -> R,
    ) -> R {
        let accesses: Vec<_> = self.touched(line, len).iter().map(UnsafeCell::get).collect();
        let start = (self.first + line) * LINE;
        // SAFETY: loom has recorded this access and fails the model if somebody writes meanwhile.
        let result = read(unsafe { &(&*self.lines.bytes.get())[start..start + len] });
        drop(accesses);
        result
    }

    pub(crate) unsafe fn with_mut<R>(
        &self,
        line: usize,
        len: usize,
        write: impl FnOnce(&mut [u8]) -> R,
    ) -> R {
        let accesses: Vec<_> = self.touched(line, len).iter().map(UnsafeCell::get_mut).collect();
        let start = (self.first + line) * LINE;
        // SAFETY: loom has recorded this access and fails the model if there is another one to
        // these lines meanwhile. Only one thread of a model runs at a time, and loom does not
        // switch threads while the bytes are borrowed.
        let result = write(unsafe { &mut (&mut *self.lines.bytes.get())[start..start + len] });
        drop(accesses);
        result
    }

    pub(crate) fn expect_read(&self, _: usize, _: usize) {}

    pub(crate) fn expect_write(&self, _: usize, _: usize) {}

    fn touched(&self, line: usize, len: usize) -> &[UnsafeCell<()>] {
        assert!(line + len.div_ceil(LINE) <= self.len);
        &self.lines.accesses[self.first + line..][..len.div_ceil(LINE)]
    }
}

/// A futex like the system's: it compares the word and puts the caller to sleep under a lock, and
/// sleepers wake up only when they are woken.
#[derive(Debug, Default)]
pub(crate) struct Futex {
    word: AtomicU32,
    lock: Mutex<()>,
    sleepers: Condvar,
}

impl Futex {
    /// Sets the word by a swap. After a store, loom lets a later swap read what a swap before the
    /// store has left, which no machine does.
    pub(crate) fn set(&self, value: u32) {
        self.word.swap(value, super::Ordering::Relaxed);
    }

    pub(crate) fn wait(&self, expected: u32, _: Option<Duration>) {
        let guard = self.lock.lock().unwrap();
        if self.word.load(super::Ordering::Relaxed) == expected {
            drop(self.sleepers.wait(guard).unwrap());
        }
    }

    pub(crate) fn wake(&self) {
        let _guard = self.lock.lock().unwrap();
        self.sleepers.notify_all();
    }
}

impl Deref for Futex {
    type Target = AtomicU32;

    fn deref(&self) -> &AtomicU32 {
        &self.word
    }
}

/// A rank's bell. The ranks of a model have none.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bell<'a>(PhantomData<&'a ()>);

impl Bell<'_> {
    pub(crate) fn ring(self) {}
}
