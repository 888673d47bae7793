//! The rings by which this process and the kernel exchange frames of AF_XDP. `unsafe`: memory that
//! is shared with the kernel.
#![allow(unsafe_code)]

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::net::xdp::{XdpDesc, XdpRingFlags, XdpRingOffset};
use std::io;
use std::marker::PhantomData;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// Shared memory, which is mapped until `self` is dropped.
pub(super) struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping belongs to no thread, and only its owner has its address.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps `len` bytes from `offset` on of a socket or a memory file. All pages are made present.
    pub(super) fn shared(file: &OwnedFd, len: usize, offset: u64) -> io::Result<Self> {
        let (protection, flags) =
            (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::POPULATE);
        // SAFETY: the kernel chooses an unused address; no existing mapping is touched.
        let start = unsafe { mmap(std::ptr::null_mut(), len, protection, flags, file, offset)? };
        Ok(Self { start: NonNull::new(start.cast()).expect("a mapping is not at address 0"), len })
    }

    /// Returns the address of the first byte.
    #[inline]
    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Returns the address of `count` values of `T` at an offset.
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
        // SAFETY: the mapping was made with this length, and no borrow of it is left. An error can
        // only mean that it is not mapped.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// The type of a ring's entries.
///
/// # Safety
/// All bit patterns must be valid values.
pub(super) unsafe trait Entry: Copy {}

// SAFETY: a number.
unsafe impl Entry for u64 {}
// SAFETY: numbers and flags. The kernel may set flags that have no name here.
unsafe impl Entry for XdpDesc {}

/// The parts that both ends of a ring need.
///
/// Invariant: `producer`, `consumer`, `flags` and `mask` + 1 entries lie in the mapping, aligned.
/// This process and the kernel access the first three atomically only. The entries from the
/// consumer's position to the producer's, modulo the ring's size, belong to the consumer, all
/// others to the producer.
struct Ring<T> {
    producer: NonNull<u32>,
    consumer: NonNull<u32>,
    flags: Option<NonNull<u32>>,
    entries: NonNull<T>,
    mask: u32,
    /// The position of this process's end. It may be ahead of the position that the kernel sees.
    own: u32,
    _mapping: Mapping,
    _entries: PhantomData<T>,
}

// SAFETY: the pointers point into the mapping, which only the owner of the ring has.
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
        // SAFETY: by the invariant, as the masked position is at most the mask.
        unsafe { self.entries.add((self.own & self.mask) as usize) }
    }
}

/// The end of a ring that this process writes: chunks for frames to receive, or frames to send.
pub(super) struct Producer<T>(Ring<T>);

impl<T: Entry> Producer<T> {
    /// Maps the ring of `size` entries, a power of two, that the kernel offers at `offset`. Writing
    /// goes on at the position where the ring's previous writer stopped.
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

    /// Writes an entry. The kernel sees it after [`Producer::publish`].
    ///
    /// # Panics
    /// If the ring is full.
    #[inline]
    pub(super) fn push(&mut self, value: T) {
        assert!(self.left() <= self.0.mask, "a ring has room for all that there is");
        // SAFETY: by the invariant this entry belongs to the producer.
        unsafe { self.0.entry().write(value) };
        self.0.own = self.0.own.wrapping_add(1);
    }

    /// Makes the written entries visible to the kernel. Returns true if there were any.
    #[inline]
    pub(super) fn publish(&mut self) -> bool {
        let is_new = self.0.producer().load(Ordering::Relaxed) != self.0.own;
        // Release: the kernel reads the entries after it has read the position.
        self.0.producer().store(self.0.own, Ordering::Release);
        is_new
    }

    /// Returns the number of entries that the kernel has not taken.
    #[inline]
    pub(super) fn left(&self) -> u32 {
        // Acquire: the kernel has read an entry before this process writes it again.
        self.0.own.wrapping_sub(self.0.consumer().load(Ordering::Acquire))
    }

    /// Returns true if the kernel looks at the ring only after a system call.
    #[inline]
    pub(super) fn needs_call(&self) -> bool {
        let Some(flags) = self.0.flags else { return true };
        // SAFETY: by the invariant.
        let flags = unsafe { AtomicU32::from_ptr(flags.as_ptr()) }.load(Ordering::Relaxed);
        XdpRingFlags::from_bits_retain(flags).contains(XdpRingFlags::XDP_RING_NEED_WAKEUP)
    }
}

/// The end of a ring that this process reads: received frames, or chunks that were sent.
pub(super) struct Consumer<T>(Ring<T>);

impl<T: Entry> Consumer<T> {
    /// Maps a ring as [`Producer::new`] does. Reading goes on where the previous reader stopped.
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

    /// Returns true if there is an entry.
    #[inline]
    pub(super) fn has_entry(&self) -> bool {
        // Acquire: the entry is read after the kernel has written it.
        self.0.producer().load(Ordering::Acquire) != self.0.own
    }

    /// Takes the next entry; `None` if there is none. The kernel may overwrite the entry's place
    /// after [`Consumer::release`].
    #[inline]
    pub(super) fn pop(&mut self) -> Option<T> {
        if !self.has_entry() {
            return None;
        }
        // SAFETY: by the invariant this entry belongs to the consumer.
        let value = unsafe { self.0.entry().read() };
        self.0.own = self.0.own.wrapping_add(1);
        Some(value)
    }

    /// Returns the places of all taken entries to the kernel.
    #[inline]
    pub(super) fn release(&mut self) {
        // Release: the entries are read before the kernel can write their places.
        self.0.consumer().store(self.0.own, Ordering::Release);
    }
}
