//! System calls that no crate offers in safe form: mappings of the engine's maps, and packet
//! sockets.
#![allow(unsafe_code)] // mappings, and structures with addresses for the kernel

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// A mapping of the bytes of a BPF map, which the kernel accesses too.
#[derive(Debug)]
pub(crate) struct Mapping {
    base: NonNull<u8>,
    length: usize,
}

// SAFETY: the mapping belongs to the process; methods that write plain bytes take `&mut self`.
unsafe impl Send for Mapping {}
// SAFETY: as above; words are atomic.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `length` bytes of a BPF map from `offset` on. Both numbers are multiples of the page
    /// size.
    pub(crate) fn new(map: impl AsFd, offset: u64, length: usize) -> io::Result<Self> {
        let rights = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses the place.
        let base = unsafe {
            mmap(std::ptr::null_mut(), length, rights, MapFlags::SHARED, map.as_fd(), offset)?
        };
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::AddrNotAvailable)?;
        Ok(Self { base, length })
    }

    fn check(&self, at: usize, length: usize) {
        let end = at.checked_add(length);
        assert!(end.is_some_and(|end| end <= self.length), "{at} + {length} of {}", self.length);
    }

    /// Copies bytes to offset `at` of the mapping.
    pub(crate) fn write(&mut self, at: usize, bytes: &[u8]) {
        self.check(at, bytes.len());
        // SAFETY: the range lies in the mapping. The engine may read it meanwhile if the caller
        // writes during a run: it then sees old or new bytes, which are numbers to it either way.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.base.as_ptr().add(at), bytes.len());
        }
    }

    /// Copies bytes from offset `at` of the mapping.
    pub(crate) fn read(&self, at: usize, bytes: &mut [u8]) {
        self.check(at, bytes.len());
        // SAFETY: as for `write`.
        unsafe {
            let from = self.base.as_ptr().add(at);
            std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), bytes.len());
        }
    }

    /// Returns the word of 32 bits at offset `at`, which the kernel may change too.
    pub(crate) fn word(&self, at: usize) -> &AtomicU32 {
        self.check(at, 4);
        assert!(at.is_multiple_of(4), "a word at {at}");
        // SAFETY: the word lies in the mapping, is aligned, and is only accessed atomically.
        unsafe { AtomicU32::from_ptr(self.base.as_ptr().add(at).cast()) }
    }

    /// Returns the word of 64 bits at offset `at`, which the kernel may change too.
    pub(crate) fn long(&self, at: usize) -> &AtomicU64 {
        self.check(at, 8);
        assert!(at.is_multiple_of(8), "a word at {at}");
        // SAFETY: as for `word`.
        unsafe { AtomicU64::from_ptr(self.base.as_ptr().add(at).cast()) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: nothing borrows from the mapping any more.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.length) };
    }
}

/// Moves the calling thread into a network namespace of its own.
pub(crate) fn own_namespace() -> io::Result<()> {
    // SAFETY: only the thread's network namespace changes; its descriptors stay shared.
    Ok(unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::NEWNET) }?)
}

fn result(returned: libc::c_int) -> io::Result<()> {
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Opens a packet socket at an interface. The socket receives the frames of `ethertype` that
/// `filter` accepts. Without a filter it receives none.
pub(crate) fn packet_socket(
    ifindex: u32,
    ethertype: u16,
    filter: Option<&[libc::sock_filter]>,
) -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None)?;
    if let Some(filter) = filter {
        let program =
            libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
        // SAFETY: the kernel copies a program that outlives the call.
        result(unsafe {
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_ATTACH_FILTER,
                (&raw const program).cast(),
                size_of::<libc::sock_fprog>() as u32,
            )
        })?;
    }
    // SAFETY: all zeros is a value of a structure of integers.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = if filter.is_some() { ethertype.to_be() } else { 0 };
    address.sll_ifindex = ifindex as libc::c_int;
    // SAFETY: the kernel reads an address that outlives the call.
    result(unsafe {
        libc::bind(
            socket.as_raw_fd(),
            (&raw const address).cast(),
            size_of::<libc::sockaddr_ll>() as u32,
        )
    })?;
    Ok(socket)
}
