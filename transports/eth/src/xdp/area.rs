//! The memory for frames of a socket of AF_XDP, in chunks. `unsafe`: the kernel and this process
//! share it.
//!
//! The memory is a memory file of fixed size, so that the process that opens the socket can pass
//! both on.
#![allow(unsafe_code)]

use super::ring::Mapping;
use goal_esp::endpoint::FRAME_LEN_MAX;
use rustix::fs::{
    MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create,
};
use rustix::net::sockopt::set_xdp_umem_reg;
use rustix::net::xdp::{XdpUmemReg, XdpUmemRegFlags};
use std::io;
use std::os::fd::OwnedFd;

/// The bytes that the kernel keeps free before a received frame.
const HEADROOM: usize = 256;
/// The sizes of a chunk: one with room for frames of 1500 bytes, and a page, which is the kernel's
/// maximum.
const CHUNK_LENS: [usize; 2] = [2048, 4096];
/// The seals that fix the size of the memory file.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);
/// The number of received frames that the area has room for. The ring of a packet socket has room
/// for as many.
const FRAMES: usize = 1024;
/// The number of places for frames to send.
pub(super) const PLACES: usize = 32;

/// The layout of the area.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) chunk_len: usize,
    /// The most chunks of a received frame.
    pub(super) pieces_max: usize,
    /// The bytes of a place for a frame to send: a whole number of chunks.
    pub(super) place_len: usize,
}

impl Shape {
    /// Returns the layout for frames of at most `len` bytes.
    pub(super) fn new(len: usize) -> Self {
        let fits = |&chunk_len: &usize| HEADROOM + len <= chunk_len;
        let chunk_len = CHUNK_LENS.into_iter().find(fits).unwrap_or(CHUNK_LENS[1]);
        let pieces_max = len.div_ceil(chunk_len - HEADROOM);
        Self { chunk_len, pieces_max, place_len: FRAME_LEN_MAX.next_multiple_of(chunk_len) }
    }

    /// Returns the number of chunks for received frames.
    pub(super) fn chunks(self) -> usize {
        FRAMES * self.pieces_max
    }

    /// Returns the size of the area.
    pub(super) fn len(self) -> usize {
        self.chunks() * self.chunk_len + PLACES * self.place_len
    }
}

/// The area: chunks for received frames, then places for frames to send.
///
/// Invariant: a chunk with an entry in the fill ring, and a place whose frame the kernel is
/// sending, belong to the kernel. All others belong to this process.
/// [`Socket`](super::socket::Socket) keeps the invariant, and alone has an area.
pub(super) struct Area {
    shape: Shape,
    mapping: Mapping,
    file: OwnedFd,
}

impl Area {
    /// Makes an area in a new memory file, and registers it with the socket.
    pub(super) fn new(socket: &OwnedFd, shape: Shape) -> io::Result<Self> {
        let file =
            memfd_create("goal-run frames", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&file, shape.len() as u64)?;
        fcntl_add_seals(&file, SEALS)?;
        let mapping = Mapping::shared(&file, shape.len(), 0)?;
        let registration = XdpUmemReg {
            addr: mapping.start().as_ptr() as u64,
            len: shape.len() as u64,
            chunk_size: shape.chunk_len as u32,
            headroom: 0,
            flags: XdpUmemRegFlags::empty(),
            tx_metadata_len: 0,
        };
        set_xdp_umem_reg(socket, registration)?;
        Ok(Self { shape, mapping, file })
    }

    /// Maps the area in a memory file, which another process registered with the socket.
    pub(super) fn over(file: OwnedFd, shape: Shape) -> io::Result<Self> {
        let is_whole = fstat(&file)?.st_size == shape.len() as i64;
        if !is_whole || !fcntl_get_seals(&file)?.contains(SEALS) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the memory for frames has another size",
            ));
        }
        let mapping = Mapping::shared(&file, shape.len(), 0)?;
        Ok(Self { shape, mapping, file })
    }

    /// Returns the memory file.
    pub(super) fn file(&self) -> &OwnedFd {
        &self.file
    }

    /// Returns the layout.
    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    fn places_at(&self) -> usize {
        self.shape.chunks() * self.shape.chunk_len
    }

    /// Returns the offset of the place with this number.
    pub(super) fn place_at(&self, place: usize) -> u64 {
        (self.places_at() + place * self.shape.place_len) as u64
    }

    /// Returns the number of the place with the byte at this offset.
    pub(super) fn place(&self, at: u64) -> Option<usize> {
        let place = (at as usize).checked_sub(self.places_at())? / self.shape.place_len;
        (place < PLACES).then_some(place)
    }

    /// Returns bytes of a chunk for received frames, or `None` if they are not in one chunk.
    ///
    /// # Safety
    /// The chunk must belong to this process as long as the result lives.
    #[inline]
    pub(super) unsafe fn arrived(&self, at: u64, len: u32) -> Option<&[u8]> {
        let (at, len, chunk_len) = (at as usize, len as usize, self.shape.chunk_len);
        let is_inside =
            at < self.places_at() && len <= chunk_len && at % chunk_len <= chunk_len - len;
        // SAFETY: inside a chunk, which is mapped, and belongs to this process. A memory file
        // begins with zeros, so all bytes are initialized.
        is_inside.then(|| unsafe {
            std::slice::from_raw_parts(self.mapping.start().as_ptr().add(at), len)
        })
    }

    /// Returns the place with this number, which has room for the longest frame.
    ///
    /// # Safety
    /// The place must belong to this process as long as the result lives.
    #[inline]
    pub(super) unsafe fn place_mut(&mut self, place: usize) -> &mut [u8] {
        assert!(place < PLACES);
        let at = self.place_at(place) as usize;
        // SAFETY: a place, which is mapped and belongs to this process, and self is borrowed.
        unsafe {
            std::slice::from_raw_parts_mut(self.mapping.start().as_ptr().add(at), FRAME_LEN_MAX)
        }
    }
}
