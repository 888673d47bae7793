//! Memory files and their mappings. `unsafe`: mapping memory and handing out references into it.
#![allow(unsafe_code)]

use super::sync::Bytes;
use goal_engine::memory::Zeroed;
use rustix::fs::{
    MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, ftruncate, memfd_create,
};
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};
use std::fs::File;
use std::io::{self, Write};
use std::ops::{Deref, Range};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;

/// A memory file that every process of the run maps readable and writable, or memory of one
/// process.
///
/// Invariant: `ptr` is the start of a live mapping of `len` bytes until `self` is dropped; it is
/// page aligned, and the file is never truncated (its size is sealed), so no access inside the
/// mapping faults.
#[derive(Debug)]
pub struct Mapping {
    ptr: NonNull<u8>,
    len: usize,
    /// The memory file; `None` where there is none.
    fd: Option<OwnedFd>,
}

/// Types made of atomics, and of bytes that a protocol over atomics lets processes reach in turn:
/// every bit pattern is a value and any number of processes may hold references to one.
///
/// # Safety
/// Implementors are `#[repr(C)]`, consist of atomic integers, integers in cells and padding only,
/// and are aligned to at most a page.
pub unsafe trait SharedWords {}

// SAFETY: the mapping is plain memory that belongs to no thread; all access goes through atomics or
// raw copies.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// A new memory file of `len` zero bytes, mapped. Pages are allocated when they are first
    /// touched.
    ///
    /// # Errors
    /// What the system says: too many open files, no address space.
    pub fn create(len: usize) -> io::Result<Self> {
        let fd = memfd_create("goal-run", MemfdFlags::ALLOW_SEALING | MemfdFlags::CLOEXEC)?;
        ftruncate(&fd, len as u64)?;
        fcntl_add_seals(&fd, SIZE_SEALS | SealFlags::SEAL)?;
        Self::open(fd, len)
    }

    /// `len` zero bytes of this process alone: address space, of which what is touched takes
    /// memory.
    ///
    /// # Errors
    /// What the system says: no address space.
    pub fn private(len: usize) -> io::Result<Self> {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: the kernel chooses an unused address; no existing mapping is touched.
        let ptr = unsafe {
            mmap_anonymous(std::ptr::null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, flags)?
        };
        Ok(Self {
            ptr: NonNull::new(ptr.cast()).expect("a mapping is not at address 0"),
            len,
            fd: None,
        })
    }

    /// The same as memory that an engine owns.
    ///
    /// # Errors
    /// The system's error: there is no address space.
    pub fn zeroed(len: usize) -> io::Result<Zeroed> {
        let mapping = Self::private(len)?;
        let start = mapping.ptr;
        // SAFETY: a new mapping is page aligned and full of zeros, and this is the only way to it.
        Ok(unsafe { Zeroed::lent(start, len, mapping) })
    }

    /// Maps an existing memory file of `len` bytes. Its size must be sealed: an access behind its
    /// end is a fault.
    ///
    /// # Errors
    /// The system's error; [`io::ErrorKind::InvalidInput`] if it has another size, or one that may
    /// change.
    pub fn open(fd: OwnedFd, len: usize) -> io::Result<Self> {
        let refused =
            |why: &str| io::Error::new(io::ErrorKind::InvalidInput, format!("the segment {why}"));
        match fcntl_get_seals(&fd) {
            Ok(seals) if seals.contains(SIZE_SEALS) => {}
            Ok(_) => return Err(refused("may change its size: it is not sealed")),
            Err(_) => return Err(refused("is no memory file")),
        }
        let fd = File::from(fd);
        let has = fd.metadata()?.len();
        if has != len as u64 {
            return Err(refused(&format!("has {has} bytes, and the job needs {len}")));
        }
        let fd = OwnedFd::from(fd);
        let ptr = map(fd.as_fd(), len, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED)?;
        Ok(Self { ptr, len, fd: Some(fd) })
    }

    /// The memory file.
    ///
    /// # Panics
    /// If it is memory of this process alone.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_ref().expect("a memory file").as_fd()
    }

    /// Bytes mapped.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is mapped, which [`Mapping::create`] refuses.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address of the byte at `offset`, followed by at least `len` bytes of the mapping.
    ///
    /// # Panics
    /// If the range is not inside the mapping.
    #[inline]
    pub fn range(&self, offset: usize, len: usize) -> NonNull<u8> {
        let end = offset.checked_add(len).expect("range wraps");
        assert!(end <= self.len, "bytes {offset}..{end} of a segment of {}", self.len);
        // SAFETY: offset is inside the mapping, or one past it when len is 0.
        unsafe { self.ptr.add(offset) }
    }

    /// The shared words at `offset`.
    ///
    /// # Panics
    /// If they are not inside the mapping, or misaligned.
    #[inline]
    pub fn words<T: SharedWords>(&self, offset: usize) -> &T {
        let ptr = self.range(offset, size_of::<T>()).cast::<T>();
        assert!(ptr.is_aligned());
        // SAFETY: in bounds and aligned by the checks above, live as long as self; SharedWords
        // makes any bytes a value and concurrent access atomic.
        unsafe { ptr.as_ref() }
    }

    /// The `len` shared words from `offset` on.
    ///
    /// # Panics
    /// If they are not inside the mapping, or misaligned.
    #[inline]
    pub fn array<T: SharedWords>(&self, offset: usize, len: usize) -> &[T] {
        let bytes = len.checked_mul(size_of::<T>()).expect("length wraps");
        let ptr = self.range(offset, bytes).cast::<T>();
        assert!(ptr.is_aligned());
        // SAFETY: as in `words`.
        unsafe { std::slice::from_raw_parts(ptr.as_ptr(), len) }
    }

    /// The bytes of an area that are written and read in turn, and reached in no other way.
    pub(super) fn bytes(&self, area: &Range<usize>) -> Bytes<'_> {
        // SAFETY: inside the mapping, which is initialised and lives as long as self; areas don't
        // overlap.
        unsafe { Bytes::new(self.range(area.start, area.len()), area.len()) }
    }

    /// Copies bytes into the mapping.
    ///
    /// # Panics
    /// If the range is not inside the mapping.
    pub fn copy_in(&self, offset: usize, bytes: &[u8]) {
        let to = self.range(offset, bytes.len());
        // SAFETY: in bounds by the check in `range`; `bytes` is not part of the mapping, which is
        // never lent as a slice here. A process that writes the same bytes at the same time spoils
        // the bytes, nothing else.
        unsafe { to.as_ptr().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) }
    }

    /// Copies bytes out of the mapping.
    ///
    /// # Panics
    /// If the range is not inside the mapping.
    pub fn copy_out(&self, offset: usize, bytes: &mut [u8]) {
        let from = self.range(offset, bytes.len());
        // SAFETY: as in `copy_in`.
        unsafe { bytes.as_mut_ptr().copy_from_nonoverlapping(from.as_ptr(), bytes.len()) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        unmap(self.ptr, self.len);
    }
}

/// Bytes that nobody can change any more: a sealed memory file, mapped read-only.
///
/// Invariant: the seals are set before the mapping is made, so the bytes are constant and a shared
/// slice of them is sound whatever other processes do.
#[derive(Debug)]
pub struct Sealed {
    ptr: NonNull<u8>,
    len: usize,
    fd: OwnedFd,
}

// SAFETY: constant memory.
unsafe impl Send for Sealed {}
// SAFETY: constant memory.
unsafe impl Sync for Sealed {}

/// Seals that keep the size of a memory file.
const SIZE_SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW);
/// Seals that keep its bytes too.
const SEALS: SealFlags =
    SealFlags::WRITE.union(SealFlags::SHRINK).union(SealFlags::GROW).union(SealFlags::SEAL);

impl Sealed {
    /// A sealed copy of `bytes`.
    ///
    /// # Errors
    /// What the system says.
    pub fn copy_of(bytes: &[u8]) -> io::Result<Self> {
        let fd =
            memfd_create("goal-run schedule", MemfdFlags::ALLOW_SEALING | MemfdFlags::CLOEXEC)?;
        let mut file = File::from(fd);
        file.write_all(bytes)?;
        let fd = OwnedFd::from(file);
        fcntl_add_seals(&fd, SEALS)?;
        Self::open(fd)
    }

    /// Maps a sealed memory file.
    ///
    /// # Errors
    /// What the system says; [`io::ErrorKind::InvalidInput`] if a seal is missing.
    pub fn open(fd: OwnedFd) -> io::Result<Self> {
        if !fcntl_get_seals(&fd).is_ok_and(|seals| seals.contains(SEALS)) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a memory file is not sealed"));
        }
        let file = File::from(fd);
        let len = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        let fd = OwnedFd::from(file);
        let ptr = map(fd.as_fd(), len, ProtFlags::READ, MapFlags::SHARED)?;
        Ok(Self { ptr, len, fd })
    }

    /// The memory file.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Deref for Sealed {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: a live mapping of `len` bytes that the seals keep constant.
        unsafe { std::slice::from_raw_parts(self.ptr.as_ptr(), self.len) }
    }
}

impl Drop for Sealed {
    fn drop(&mut self) {
        unmap(self.ptr, self.len);
    }
}

fn map(
    fd: BorrowedFd<'_>,
    len: usize,
    protection: ProtFlags,
    flags: MapFlags,
) -> io::Result<NonNull<u8>> {
    // SAFETY: the kernel chooses an unused address; no existing mapping is touched.
    let ptr = unsafe { mmap(std::ptr::null_mut(), len, protection, flags, fd, 0)? };
    Ok(NonNull::new(ptr.cast()).expect("a mapping is not at address 0"))
}

fn unmap(ptr: NonNull<u8>, len: usize) {
    // SAFETY: the mapping was made by `map` with this length and its owner is being dropped. An
    // error can only mean that the range is not mapped, which leaves nothing to do.
    let _ = unsafe { munmap(ptr.as_ptr().cast(), len) };
}
