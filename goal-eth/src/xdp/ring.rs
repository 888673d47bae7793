//! Rings of descriptors that this process and the kernel share (AF_XDP). `unsafe`: memory that is
//! shared with the kernel.
#![allow(unsafe_code)]

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::net::xdp::{XdpDesc, XdpRingFlags, XdpRingOffset};
use std::io;
use std::marker::PhantomData;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// Memory that is mapped until `self` is dropped.
pub(super) struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping belongs to no thread, and only its owner reaches it.
unsafe impl Send for Mapping {}

impl Mapping {
    /// The first `len` bytes behind `offset` of a socket or a memory file, there at once.
    pub(super) fn shared(file: &OwnedFd, len: usize, offset: u64) -> io::Result<Self> {
        let (protection, flags) =
            (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::POPULATE);
        // SAFETY: the kernel chooses an unused address; no existing mapping is touched.
        let start = unsafe { mmap(std::ptr::null_mut(), len, protection, flags, file, offset)? };
        Ok(Self { start: NonNull::new(start.cast()).expect("a mapping is not at address 0"), len })
    }

    /// Its first byte.
    #[inline]
    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// The place of a `T` in it.
    fn at<T>(&self, offset: u64, count: usize) -> NonNull<T> {
        let offset = offset as usize;
        assert!(
            offset + count * size_of::<T>() <= self.len && offset.is_multiple_of(align_of::<T>())
        );
        // SAFETY: inside the mapping.
        unsafe { self.start.add(offset) }.cast()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this length, and nothing of it is lent any more. An
        // error can only mean that it is not mapped, which leaves nothing to do.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// What rings consist of.
///
/// # Safety
/// All bytes are a value.
pub(super) unsafe trait Entry: Copy {}

// SAFETY: a number.
unsafe impl Entry for u64 {}
// SAFETY: numbers, and flags of which the kernel may set others than those that have a name.
unsafe impl Entry for XdpDesc {}

/// What both ends of a ring have.
///
/// Invariant: `producer`, `consumer`, `flags` and as many entries as `mask` says plus 1 lie in the
/// mapping, aligned. Both ends reach the first three atomically only. The entries from the
/// consumer's number to the producer's, modulo the ring's size, are the consumer's, all others the
/// producer's.
struct Ring<T> {
    producer: NonNull<u32>,
    consumer: NonNull<u32>,
    flags: Option<NonNull<u32>>,
    entries: NonNull<T>,
    mask: u32,
    /// This end's number, which the kernel learns later.
    own: u32,
    _mapping: Mapping,
    _entries: PhantomData<T>,
}

// SAFETY: as `Mapping`.
unsafe impl<T: Send> Send for Ring<T> {}

impl<T: Entry> Ring<T> {
    fn new(socket: &OwnedFd, at: XdpRingOffset, size: u32, offset: u64) -> io::Result<Self> {
        assert!(size.is_power_of_two());
        let len = at.desc as usize + size as usize * size_of::<T>();
        let mapping = Mapping::shared(socket, len, offset)?;
        Ok(Self {
            producer: mapping.at(at.producer, 1),
            consumer: mapping.at(at.consumer, 1),
            flags: at.flags.map(|at| mapping.at(at, 1)),
            entries: mapping.at(at.desc, size as usize),
            mask: size - 1,
            own: 0,
            _mapping: mapping,
            _entries: PhantomData,
        })
    }

    #[inline]
    fn producer(&self) -> &AtomicU32 {
        // SAFETY: by the invariant.
        unsafe { AtomicU32::from_ptr(self.producer.as_ptr()) }
    }

    #[inline]
    fn consumer(&self) -> &AtomicU32 {
        // SAFETY: by the invariant.
        unsafe { AtomicU32::from_ptr(self.consumer.as_ptr()) }
    }

    #[inline]
    fn entry(&self) -> NonNull<T> {
        // SAFETY: the number of an entry is at most the mask.
        unsafe { self.entries.add((self.own & self.mask) as usize) }
    }
}

/// The end of a ring that this process writes: chunks to fill, frames to send.
pub(super) struct Producer<T>(Ring<T>);

impl<T: Entry> Producer<T> {
    /// The ring of `size` entries, a power of two, that the kernel maps at `offset`.
    ///
    /// It goes on where the process stopped that wrote the ring before.
    pub(super) fn new(
        socket: &OwnedFd,
        at: XdpRingOffset,
        size: u32,
        offset: u64,
    ) -> io::Result<Self> {
        let mut ring = Ring::new(socket, at, size, offset)?;
        ring.own = ring.producer().load(Ordering::Acquire);
        Ok(Self(ring))
    }

    /// Writes an entry, for which there must be room. The kernel sees it after
    /// [`Producer::publish`].
    #[inline]
    pub(super) fn push(&mut self, value: T) {
        assert!(self.left() <= self.0.mask, "a ring has room for all that there is");
        // SAFETY: by the invariant this entry is the producer's.
        unsafe { self.0.entry().write(value) };
        self.0.own = self.0.own.wrapping_add(1);
    }

    /// Shows the kernel what was written. Whether that was anything.
    #[inline]
    pub(super) fn publish(&mut self) -> bool {
        let is_new = self.0.producer().load(Ordering::Relaxed) != self.0.own;
        self.0.producer().store(self.0.own, Ordering::Release);
        is_new
    }

    /// Entries that the kernel has not taken.
    #[inline]
    pub(super) fn left(&self) -> u32 {
        self.0.own.wrapping_sub(self.0.consumer().load(Ordering::Acquire))
    }

    /// Whether the kernel looks at the ring only when it is called.
    #[inline]
    pub(super) fn needs_call(&self) -> bool {
        let Some(flags) = self.0.flags else { return true };
        // SAFETY: by the invariant.
        let flags = unsafe { AtomicU32::from_ptr(flags.as_ptr()) }.load(Ordering::Relaxed);
        XdpRingFlags::from_bits_retain(flags).contains(XdpRingFlags::XDP_RING_NEED_WAKEUP)
    }
}

/// The end of a ring that this process reads: frames that arrived, chunks that were sent.
pub(super) struct Consumer<T>(Ring<T>);

impl<T: Entry> Consumer<T> {
    /// As [`Producer::new`].
    pub(super) fn new(
        socket: &OwnedFd,
        at: XdpRingOffset,
        size: u32,
        offset: u64,
    ) -> io::Result<Self> {
        let mut ring = Ring::new(socket, at, size, offset)?;
        ring.own = ring.consumer().load(Ordering::Acquire);
        Ok(Self(ring))
    }

    /// Whether there is an entry.
    #[inline]
    pub(super) fn has_entry(&self) -> bool {
        self.0.producer().load(Ordering::Acquire) != self.0.own
    }

    /// Takes the next entry, whose place the kernel gets back with [`Consumer::give_back`].
    #[inline]
    pub(super) fn pop(&mut self) -> Option<T> {
        if !self.has_entry() {
            return None;
        }
        // SAFETY: by the invariant this entry is the consumer's, and it was written before the
        // producer's number.
        let value = unsafe { self.0.entry().read() };
        self.0.own = self.0.own.wrapping_add(1);
        Some(value)
    }

    /// Gives the kernel the places of all that was taken.
    #[inline]
    pub(super) fn give_back(&mut self) {
        self.0.consumer().store(self.0.own, Ordering::Release);
    }
}
