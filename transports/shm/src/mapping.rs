//! Maps memory files, which the processes of a job share.
#![allow(unsafe_code)] // maps memory and hands out references into it

use super::populate::{HUGE_PAGE, PAGE, populate};
use goal_engine::memory::Zeroed;
use goal_sync::{Bytes, SharedWords};
use rustix::fs::{
    FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, fcntl_get_seals, ftruncate,
    memfd_create,
};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// A memory file mapped readable and writable by every process of the job, or anonymous memory of
/// one process.
///
/// Invariant: `ptr` is the start of a live mapping of `len` bytes until `self` is dropped. It is
/// page aligned. The size of the file is sealed, so no access inside the mapping faults.
#[derive(Debug)]
pub(crate) struct Mapping {
    ptr: NonNull<u8>,
    len: usize,
    /// The memory file; `None` for anonymous memory.
    fd: Option<OwnedFd>,
}

// SAFETY: the mapping is plain memory that belongs to no thread. Its safe methods access it through
// atomics only.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

/// Returns the limit on the size of files in bytes (`ulimit -f`). If a filter of system calls
/// forbids the question, returns `RLIM_INFINITY`.
fn file_size_max() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call writes to `limit` only.
    match unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) } {
        0 => limit.rlim_cur,
        _ => libc::RLIM_INFINITY,
    }
}

impl Mapping {
    /// Creates and maps a memory file of `len` zero bytes. The system allocates a page when it is
    /// first touched.
    ///
    /// # Errors
    /// The system's error: too many open files, or no address space.
    pub(crate) fn create(len: usize) -> io::Result<Self> {
        let fd = memfd_create("goal-run", MemfdFlags::ALLOW_SEALING | MemfdFlags::CLOEXEC)?;
        // Beyond this limit `ftruncate` would end the process by a signal.
        if len as u64 > file_size_max() {
            return Err(Errno::FBIG.into());
        }
        ftruncate(&fd, len as u64)?;
        fcntl_add_seals(&fd, SIZE_SEALS | SealFlags::SEAL)?;
        Self::open(fd, len)
    }

    /// Maps `len` zero bytes of this process alone. The system allocates a page when it is first
    /// touched.
    ///
    /// # Errors
    /// The system's error: no address space.
    fn private(len: usize) -> io::Result<Self> {
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

    /// Maps an existing memory file of `len` bytes. Its size must be sealed, because an access
    /// beyond the end of the file is a fault.
    ///
    /// # Errors
    /// The system's error; [`io::ErrorKind::InvalidInput`] if the file has another size, or if its
    /// size may change.
    pub(crate) fn open(fd: OwnedFd, len: usize) -> io::Result<Self> {
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
        Ok(Self { ptr: map_aligned(fd.as_fd(), len)?, len, fd: Some(fd) })
    }

    /// The memory file.
    ///
    /// # Panics
    /// If the memory is anonymous.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_ref().expect("a memory file").as_fd()
    }

    /// The number of bytes mapped.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the address of the byte at `offset`, at which at least `len` bytes of the mapping
    /// begin.
    ///
    /// # Panics
    /// If the range is not inside the mapping.
    #[inline]
    pub(crate) fn range(&self, offset: usize, len: usize) -> NonNull<u8> {
        let end = offset.checked_add(len).expect("range wraps");
        assert!(end <= self.len, "bytes {offset}..{end} of a segment of {}", self.len);
        // SAFETY: offset is inside the mapping, or one past it when len is 0.
        unsafe { self.ptr.add(offset) }
    }

    /// Returns the shared words at `offset`.
    ///
    /// # Safety
    /// The bytes of these words are used as a `T` only, as long as the mapping lives.
    ///
    /// # Panics
    /// If the words are not inside the mapping, or misaligned.
    #[inline]
    pub(crate) unsafe fn words<T: SharedWords>(&self, offset: usize) -> &T {
        let ptr = self.range(offset, size_of::<T>()).cast::<T>();
        assert!(ptr.is_aligned());
        // SAFETY: in bounds and aligned by the checks above, and live as long as self. SharedWords
        // makes any bytes a value, and the caller keeps all other access to them atomic.
        unsafe { ptr.as_ref() }
    }

    /// Returns the `len` shared words that begin at `offset`.
    ///
    /// # Safety
    /// The contract of [`Mapping::words`] holds for each of the words.
    ///
    /// # Panics
    /// If the words are not inside the mapping, or misaligned.
    #[inline]
    pub(crate) unsafe fn array<T: SharedWords>(&self, offset: usize, len: usize) -> &[T] {
        let bytes = len.checked_mul(size_of::<T>()).expect("length wraps");
        let ptr = self.range(offset, bytes).cast::<T>();
        assert!(ptr.is_aligned());
        // SAFETY: as in `words`.
        unsafe { std::slice::from_raw_parts(ptr.as_ptr(), len) }
    }

    /// Returns an area as the bytes of rings, which a protocol over atomics guards.
    ///
    /// # Safety
    /// The bytes of the area are used as [`Bytes`] only, as long as the mapping lives.
    pub(crate) unsafe fn bytes(&self, area: &Range<usize>) -> Bytes<'_> {
        // SAFETY: inside the mapping, which is initialised and lives as long as self; the caller
        // keeps other users away.
        unsafe { Bytes::new(self.range(area.start, area.len()), area.len()) }
    }

    /// Fills an area with zeros, and gives its memory back to the system. The area begins a page,
    /// and nothing else lies in its last page.
    ///
    /// # Errors
    /// The system's error.
    ///
    /// # Panics
    /// If the area is not inside the mapping or does not begin a page, or if the memory is
    /// anonymous.
    pub(crate) fn clear(&self, area: &Range<usize>) -> io::Result<()> {
        self.range(area.start, area.len());
        assert!(area.start.is_multiple_of(PAGE), "an area begins a page");
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        let bytes = area.len().next_multiple_of(PAGE);
        Ok(fallocate(self.fd(), flags, area.start as u64, bytes as u64)?)
    }

    /// Leaves an area out of memory dumps of the process. The area begins a page. If the system
    /// refuses, dumps contain the area.
    pub(crate) fn leave_out_of_dumps(&self, area: &Range<usize>) {
        let start = self.range(area.start, area.len());
        // SAFETY: inside the mapping, which lives as long as self; only a flag of it changes.
        let _ = unsafe { madvise(start.as_ptr().cast(), area.len(), Advice::LinuxDontDump) };
    }

    /// Makes an area resident. Returns the number of bytes of it that are resident.
    ///
    /// # Panics
    /// If the range is not inside the mapping.
    pub(crate) fn populate(&self, area: &Range<usize>) -> usize {
        // SAFETY: inside the mapping, which is readable and writable and lives as long as self. No
        // byte changes, and where the system lacks the means, bytes are touched atomically.
        unsafe { populate(self.range(area.start, area.len()), area.len()) }
    }

    /// Copies bytes into the mapping.
    ///
    /// # Safety
    /// Nobody else reads or writes the same bytes during the call, in any process.
    ///
    /// # Panics
    /// If the range is not inside the mapping.
    pub(crate) unsafe fn write(&self, offset: usize, bytes: &[u8]) {
        let to = self.range(offset, bytes.len());
        // SAFETY: in bounds by the check in `range`. `bytes` overlaps the mapping only if somebody
        // else has a slice of it, which the caller excludes.
        unsafe { to.as_ptr().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) }
    }

    /// Copies bytes into the mapping by relaxed atomic stores. If others load or store the same
    /// bytes in this way during the call, old and new values may mix. Nothing else happens.
    ///
    /// # Panics
    /// If the range is not inside the mapping.
    pub(crate) fn store(&self, offset: usize, bytes: &[u8]) {
        let (head, words, tail) = self.atomics(offset, bytes.len());
        let (of_head, rest) = bytes.split_at(head.len());
        let (of_words, of_tail) = rest.split_at(rest.len() - tail.len());
        for (at, byte) in head.iter().zip(of_head).chain(tail.iter().zip(of_tail)) {
            at.store(*byte, Ordering::Relaxed);
        }
        for (at, word) in words.iter().zip(of_words.as_chunks().0) {
            at.store(u64::from_ne_bytes(*word), Ordering::Relaxed);
        }
    }

    /// Copies bytes out of the mapping by relaxed atomic loads. If others store to the same bytes
    /// during the call, the copy may mix old and new values. Nothing else happens.
    ///
    /// # Panics
    /// If the range is not inside the mapping.
    pub(crate) fn load(&self, offset: usize, bytes: &mut [u8]) {
        let (head, words, tail) = self.atomics(offset, bytes.len());
        let (of_head, rest) = bytes.split_at_mut(head.len());
        let (of_words, of_tail) = rest.split_at_mut(rest.len() - tail.len());
        for (at, byte) in head.iter().zip(of_head).chain(tail.iter().zip(of_tail)) {
            *byte = at.load(Ordering::Relaxed);
        }
        for (at, word) in words.iter().zip(of_words.as_chunks_mut().0) {
            *word = at.load(Ordering::Relaxed).to_ne_bytes();
        }
    }

    /// Returns a range as atomics: the bytes up to the first aligned word, the words, and the bytes
    /// after the last word.
    fn atomics(&self, offset: usize, len: usize) -> (&[AtomicU8], &[AtomicU64], &[AtomicU8]) {
        let start = self.range(offset, len).cast::<AtomicU8>();
        // SAFETY: in bounds by the check in `range`, and live as long as self. Any bytes are values
        // of atomics, of either size.
        unsafe { std::slice::from_raw_parts(start.as_ptr(), len).align_to() }
    }
}

/// Maps `len` zero bytes of this process alone, as memory that an engine owns.
///
/// # Errors
/// The system's error: there is no address space.
pub fn zeroed(len: usize) -> io::Result<Zeroed> {
    let mapping = Mapping::private(len)?;
    let start = mapping.ptr;
    // SAFETY: a new mapping is page aligned and full of zeros, and this is the only way to it.
    Ok(unsafe { Zeroed::lent(start, len, mapping) })
}

impl Drop for Mapping {
    fn drop(&mut self) {
        unmap(self.ptr, self.len);
    }
}

/// The seals that keep the size of a memory file.
pub(crate) const SIZE_SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW);

/// Maps a memory file.
pub(crate) fn map(
    fd: BorrowedFd<'_>,
    len: usize,
    protection: ProtFlags,
    flags: MapFlags,
) -> io::Result<NonNull<u8>> {
    // SAFETY: the kernel chooses an unused address; no existing mapping is touched.
    let ptr = unsafe { mmap(std::ptr::null_mut(), len, protection, flags, fd, 0)? };
    Ok(NonNull::new(ptr.cast()).expect("a mapping is not at address 0"))
}

/// Maps a memory file for reading and writing, at an address that is a multiple of [`HUGE_PAGE`].
/// Only then can its bytes be in huge pages.
fn map_aligned(fd: BorrowedFd<'_>, len: usize) -> io::Result<NonNull<u8>> {
    let (huge, access) = (HUGE_PAGE, ProtFlags::READ | ProtFlags::WRITE);
    // Without room for the alignment, the file is mapped anywhere.
    let room = len.checked_add(huge).filter(|_| len >= huge);
    let reserve = |room| {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: the kernel chooses an unused address; no existing mapping is touched.
        unsafe { mmap_anonymous(std::ptr::null_mut(), room, ProtFlags::empty(), flags) }
    };
    let Some((room, start)) = room.and_then(|room| Some((room, reserve(room).ok()?))) else {
        return map(fd, len, access, MapFlags::SHARED);
    };
    let before = start.addr().next_multiple_of(huge) - start.addr();
    let aligned = start.wrapping_byte_add(before);
    let flags = MapFlags::SHARED | MapFlags::FIXED;
    // SAFETY: replaces a part of the mapping above, which nobody uses.
    let mapped = unsafe { mmap(aligned, len, access, flags, fd, 0) };
    // The file took whole pages; the rest of the reservation is given back.
    let end = before + len.next_multiple_of(PAGE);
    let unused = match &mapped {
        Ok(_) => [(0, before), (end, room.saturating_sub(end))],
        Err(_) => [(0, room), (0, 0)],
    };
    for (at, len) in unused.into_iter().filter(|&(_, len)| len > 0) {
        // SAFETY: a part of the reservation, which nobody uses.
        let _ = unsafe { munmap(start.wrapping_byte_add(at), len) };
    }
    Ok(NonNull::new(mapped?.cast()).expect("a mapping is not at address 0"))
}

/// Unmaps memory that `map` or `mmap_anonymous` mapped, and that nobody uses any more.
pub(crate) fn unmap(ptr: NonNull<u8>, len: usize) {
    // SAFETY: the mapping was made by `map` with this length and its owner is being dropped. An
    // error can only mean that the range is not mapped, which leaves nothing to do.
    let _ = unsafe { munmap(ptr.as_ptr().cast(), len) };
}
