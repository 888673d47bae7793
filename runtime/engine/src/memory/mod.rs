//! Memory that a schedule works on: raw bytes that other ranks may read too.
//!
//! A rank's memory lies where its embedding program put it: in a [`Storage`](crate::Storage) of its
//! own, or in a segment that processes share. The type system does not see the second case, so its
//! rules are stated once, as the contract of [`Region::new`]; everything else here is checked.
//!
//! **Aliases.** An engine makes references to a span's bytes only within one call of
//! `Span::read` or `Span::write`, whose closure reaches no other span that overlaps it. Only
//! this crate can call the two.
//!
//! **Races.** A program may name the same bytes in two actions that no dependency orders, or write
//! a buffer that a peer still reads. Such a program has no defined result: the paper leaves the
//! order to the dependencies. If two processes race, the machine decides what is read. An engine
//! never derives a length or an address from the bytes, and branches on them only where either way
//! is harmless (a NaN, a zero divisor). So a race between processes leaves wrong bytes and does no
//! other harm. Between threads of one process, such a race would be undefined behaviour in Rust. So
//! there, ranks reach each other's memory only in programs that the checks let pass, or not at all.
//! In mode `node` another process may run an operation of a rank. That process then holds the lock
//! on the rank, or has claimed a chunk of a task for itself.

// The one place where an address and a length become a slice of a rank's memory.
#![allow(unsafe_code)]

mod copies;

pub use copies::copy;
pub(crate) use copies::copy_short;
use std::alloc::{Layout, alloc_zeroed};
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::ptr::NonNull;
use zerocopy::FromZeros;

/// The memory of one rank. Addresses in a schedule are offsets in it.
#[derive(Debug, Clone, Copy)]
pub struct Region {
    start: *mut u8,
    len: usize,
}

// SAFETY: a region is an address and a length; the contract of `Region::new` holds on every thread
// of the process.
unsafe impl Send for Region {}

impl Region {
    /// A region without bytes.
    pub const EMPTY: Region = Region { start: std::ptr::dangling_mut(), len: 0 };

    /// Creates a region of the `len` bytes at `start`.
    ///
    /// # Safety
    /// The bytes are mapped, readable and writable, initialised, and stay so for as long as this
    /// region, a copy or a span of it is in use. While an action runs, no Rust reference to the
    /// bytes that it names exists elsewhere.
    pub const unsafe fn new(start: *mut u8, len: usize) -> Self {
        Self { start, len }
    }

    /// Returns the size of the region in bytes.
    pub const fn len(self) -> usize {
        self.len
    }

    /// Returns true if the region has no bytes.
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Returns the bytes `addr .. addr + len` of the region.
    ///
    /// # Panics
    /// If they don't all lie in the region. The verifier checks this for a schedule's buffers.
    #[inline]
    pub fn span(self, addr: u64, len: u64) -> Span {
        let size = self.len as u64;
        assert!(
            addr <= size && len <= size - addr,
            "bytes {addr}+{len} outside a region of {size}"
        );
        // SAFETY: `addr` is at most the region's length, so the result points into it or just
        // behind it.
        Span { start: unsafe { self.start.add(addr as usize) }, len: len as usize }
    }

    /// Returns buffers of these lengths in the region, one behind the other as in
    /// [`flat_offsets`](goal_lang::flat_offsets).
    ///
    /// # Panics
    /// If they don't all lie in the region.
    pub fn split(self, lengths: &[u64]) -> Vec<Region> {
        let (offsets, _) =
            goal_lang::flat_offsets(lengths.iter().copied()).expect("below 2^64 bytes");
        let buffer = |(offset, &length)| {
            let Span { start, len } = self.span(offset, length);
            Region { start, len }
        };
        offsets.into_iter().zip(lengths).map(buffer).collect()
    }

    /// Returns all bytes of the region.
    pub fn whole(self) -> Span {
        Span { start: self.start, len: self.len }
    }
}

/// Consecutive bytes of a [`Region`].
#[derive(Debug, Clone, Copy)]
pub struct Span {
    start: *mut u8,
    len: usize,
}

// SAFETY: as for `Region`.
unsafe impl Send for Span {}

impl Span {
    /// Returns the number of bytes.
    #[inline]
    pub const fn len(self) -> usize {
        self.len
    }

    /// Returns true if the span has no bytes.
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Returns the address of the first byte. Transports use it to let peers read the bytes.
    pub fn address(self) -> usize {
        self.start as usize
    }

    /// Returns the bytes `range` of the span.
    ///
    /// # Panics
    /// If the part is not inside.
    #[inline]
    pub fn part(self, range: Range<usize>) -> Span {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: the start is at most `len`.
        Span { start: unsafe { self.start.add(range.start) }, len: range.end - range.start }
    }

    /// Returns true if the two have no byte in common.
    #[inline]
    pub fn is_disjoint(self, other: Span) -> bool {
        let (a, b) = (self.address(), other.address());
        a + self.len <= b || b + other.len <= a
    }

    /// Returns true if both spans are the same bytes.
    #[inline]
    pub fn is_same(self, other: Span) -> bool {
        self.start == other.start && self.len == other.len
    }

    /// Returns the bytes as a slice.
    ///
    /// # Safety
    /// The contract of [`Region::new`] holds for `'a`, and no other code changes the bytes
    /// meanwhile.
    pub unsafe fn as_slice<'a>(self) -> &'a [u8] {
        // SAFETY: as the caller says.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }

    /// Returns the bytes as a mutable slice.
    ///
    /// # Safety
    /// The contract of [`Region::new`] holds for `'a`, and no other code accesses the bytes
    /// meanwhile.
    pub unsafe fn as_mut_slice<'a>(self) -> &'a mut [u8] {
        // SAFETY: as the caller says.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }

    /// Calls `read` with the bytes. Meanwhile `read` must not write these bytes in another way, by
    /// another span for example.
    #[inline]
    pub(crate) fn read<R>(self, read: impl FnOnce(&[u8]) -> R) -> R {
        // SAFETY: the contract of `Region::new`; see "Aliases" above.
        read(unsafe { std::slice::from_raw_parts(self.start, self.len) })
    }

    /// Returns the bytes if there are eight, otherwise `None`.
    #[inline(always)]
    pub(crate) fn eight(self) -> Option<[u8; 8]> {
        // SAFETY: as in `read`. The span has so many bytes.
        (self.len == 8).then(|| unsafe { self.start.cast::<[u8; 8]>().read() })
    }

    /// Calls `write` with the bytes. Meanwhile `write` must not access these bytes in another way,
    /// by another span for example.
    #[inline]
    pub(crate) fn write<R>(self, write: impl FnOnce(&mut [u8]) -> R) -> R {
        // SAFETY: as in `read`.
        write(unsafe { std::slice::from_raw_parts_mut(self.start, self.len) })
    }

    /// Returns the bytes to write if there are eight, otherwise `None`.
    ///
    /// # Safety
    /// No other code accesses these bytes during the lifetime, by another span for example.
    #[inline(always)]
    pub(crate) unsafe fn eight_mut<'a>(self) -> Option<&'a mut [u8; 8]> {
        // SAFETY: the contract of `Region::new`; see "Aliases" above. The caller promises the rest.
        (self.len == 8).then(|| unsafe { &mut *self.start.cast() })
    }

    /// Calls a closure with this span's bytes to read and `target`'s bytes to write.
    ///
    /// # Panics
    /// If they have a byte in common.
    #[inline]
    pub(crate) fn read_into<R>(self, target: Span, f: impl FnOnce(&[u8], &mut [u8]) -> R) -> R {
        assert!(self.is_disjoint(target));
        self.read(|source| target.write(|target| f(source, target)))
    }
}

/// Bytes of a peer that an engine may read in place, for as long as `'t`.
///
/// A transport learns the addresses of an engine's memory when the engine exports it. If a span
/// were enough for an import, a transport could return such an address after the memory is freed.
#[derive(Debug)]
pub struct Imported<'t> {
    span: Span,
    transport: PhantomData<&'t ()>,
}

impl Imported<'_> {
    /// Creates an import of the bytes that `span` names.
    ///
    /// # Safety
    /// The contract of [`Region::new`] holds for them during the lifetime, and until every task on
    /// them that [`Workers::open`](crate::transport::Workers::open) opened meanwhile has ended.
    pub const unsafe fn new(span: Span) -> Self {
        Self { span, transport: PhantomData }
    }

    /// Returns the bytes. The caller must not use the span for longer than it borrows the
    /// transport.
    pub(crate) fn span(self) -> Span {
        self.span
    }
}

/// An array of integers of an instance: its counters, its bitmap of ended actions, or its record of
/// matches.
///
/// The integers may lie in a shared segment, where a launcher in another process reads them at any
/// time. The engine writes them without atomic operations. So no other thread of its process may
/// read them meanwhile.
#[derive(Debug)]
pub struct Cells<T> {
    start: *mut T,
    len: usize,
}

// SAFETY: as for `Region`; `T` is a plain integer.
unsafe impl<T: Send> Send for Cells<T> {}

impl<T: Copy> Cells<T> {
    /// Returns the address of the first number.
    pub(crate) fn address(&self) -> usize {
        self.start as usize
    }

    /// An array without numbers.
    pub const EMPTY: Self = Self { start: std::ptr::dangling_mut(), len: 0 };

    /// Creates an array of the `len` numbers at `start`.
    ///
    /// # Safety
    /// As for [`Region::new`], and `start` is aligned. While this value lives, no other code writes
    /// them, and no other thread of this process reads them.
    pub const unsafe fn new(start: *mut T, len: usize) -> Self {
        Self { start, len }
    }

    /// Returns the numbers as a slice.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        // SAFETY: the contract of `new`; the borrow of `self` keeps writes away.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }

    /// Returns the numbers as a mutable slice.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: the contract of `new`; the exclusive borrow of `self` makes it the only one.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }
}

/// Memory of zeros with one owner, aligned to [`Zeroed::ALIGN`].
pub struct Zeroed {
    start: NonNull<u8>,
    len: usize,
    /// The owner of the memory, which keeps it until it is dropped.
    _owner: Box<dyn Any + Send>,
}

// SAFETY: the memory is this value's alone, and its owner may be sent.
unsafe impl Send for Zeroed {}

impl fmt::Debug for Zeroed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes of zeros at {:?}", self.len, self.start)
    }
}

impl Zeroed {
    /// The alignment of the first byte in bytes: a cache line.
    pub const ALIGN: usize = 64;

    /// Allocates `len` bytes of zeros. The system provides most pages of a large block only when
    /// they are first touched.
    ///
    /// # Panics
    /// If there is no memory.
    pub fn new(len: usize) -> Self {
        Self::try_new(len).unwrap_or_else(|| panic!("there is no memory of {len} bytes"))
    }

    /// Allocates `len` bytes of zeros as [`Zeroed::new`] does. Returns `None` if there is no
    /// memory.
    pub fn try_new(len: usize) -> Option<Self> {
        // Allocators fill memory of a larger alignment with zeros themselves, and so touch every
        // page.
        let words = len.checked_add(Self::ALIGN)?.div_ceil(size_of::<u64>());
        let layout = Layout::array::<u64>(words).ok()?;
        // SAFETY: the layout is not empty: it has at least the bytes for the alignment.
        let allocated = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        // SAFETY: the global allocator gave it for so many words, and zeros are words.
        let mut memory =
            unsafe { Vec::from_raw_parts(allocated.as_ptr().cast::<u64>(), words, words) };
        let first = memory.as_mut_ptr().cast::<u8>();
        let ahead = first.addr().next_multiple_of(Self::ALIGN) - first.addr();
        // SAFETY: less than `ALIGN` bytes ahead, behind which there is room for `len`.
        let start = unsafe { NonNull::new_unchecked(first.add(ahead)) };
        // SAFETY: zeros of the vector, which is not touched before it is dropped.
        Some(unsafe { Self::lent(start, len, memory) })
    }

    /// Wraps the `len` bytes at `start`. `owner` keeps them mapped until it is dropped.
    ///
    /// # Safety
    /// The bytes are zeros, readable and writable, aligned to [`Zeroed::ALIGN`], and no other code
    /// accesses them before `owner` is dropped.
    pub unsafe fn lent(start: NonNull<u8>, len: usize, owner: impl Any + Send) -> Self {
        Self { start, len, _owner: Box::new(owner) }
    }

    pub(crate) fn region(&self) -> Region {
        Region { start: self.start.as_ptr(), len: self.len }
    }

    /// Returns the memory as an array of as many numbers as fit.
    pub(crate) fn cells<T: FromZeros>(&self) -> Cells<T> {
        const { assert!(align_of::<T>() <= Self::ALIGN) };
        Cells { start: self.start.as_ptr().cast(), len: self.len / size_of::<T>() }
    }
}
