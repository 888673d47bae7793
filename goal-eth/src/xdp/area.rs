//! The memory that a socket of AF_XDP and this process share, in chunks. `unsafe`: the kernel
//! writes and reads it.
//!
//! It is a memory file of fixed size, so that the process that opens the socket can pass both on.
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

/// What the kernel keeps free before a frame that arrives.
const HEADROOM: usize = 256;
/// Bytes of a chunk: what has room for frames of 1500 bytes, and a page, which is the most that the
/// kernel takes.
const CHUNK_LENS: [usize; 2] = [2048, 4096];
/// Seals that keep the size of the memory file.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);
/// Frames that arrive for which there is room, as in the ring of a packet socket.
const FRAMES: usize = 1024;
/// Frames that are to leave.
pub(super) const PLACES: usize = 32;

/// How frames of an interface lie in the area.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) chunk_len: usize,
    /// Most chunks of a frame that arrives.
    pub(super) pieces_max: usize,
    /// Bytes of the place of a frame that is to leave: several chunks.
    pub(super) place_len: usize,
}

impl Shape {
    /// For frames of at most `len` bytes.
    pub(super) fn new(len: usize) -> Self {
        let fits = |&chunk_len: &usize| HEADROOM + len <= chunk_len;
        let chunk_len = CHUNK_LENS.into_iter().find(fits).unwrap_or(CHUNK_LENS[1]);
        let pieces_max = len.div_ceil(chunk_len - HEADROOM);
        Self { chunk_len, pieces_max, place_len: FRAME_LEN_MAX.next_multiple_of(chunk_len) }
    }

    /// Chunks for frames that arrive.
    pub(super) fn chunks(self) -> usize {
        FRAMES * self.pieces_max
    }

    /// Bytes of the area.
    pub(super) fn len(self) -> usize {
        self.chunks() * self.chunk_len + PLACES * self.place_len
    }
}

/// The area: chunks for frames that arrive, then places for frames that are to leave.
///
/// Invariant: a chunk of which the fill ring has an entry, and a place whose frame is on its way,
/// is the kernel's; all others are this process's. [`Socket`](super::socket::Socket) sees to it,
/// and nobody else has an area.
pub(super) struct Area {
    shape: Shape,
    mapping: Mapping,
    file: OwnedFd,
}

impl Area {
    /// One that the socket has been told of.
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

    /// The one in a memory file, which another process has told the socket of.
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

    /// The memory file.
    pub(super) fn file(&self) -> &OwnedFd {
        &self.file
    }

    /// How frames lie in it.
    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    fn places_at(&self) -> usize {
        self.shape.chunks() * self.shape.chunk_len
    }

    /// Where the place with this number is.
    pub(super) fn place_at(&self, place: usize) -> u64 {
        (self.places_at() + place * self.shape.place_len) as u64
    }

    /// The number of the place that has this byte.
    pub(super) fn place(&self, at: u64) -> Option<usize> {
        let place = (at as usize).checked_sub(self.places_at())? / self.shape.place_len;
        (place < PLACES).then_some(place)
    }

    /// Bytes of a chunk for frames that arrive; `None` if they are not in one.
    ///
    /// # Safety
    /// The chunk is this process's as long as the result lives.
    #[inline]
    pub(super) unsafe fn arrived(&self, at: u64, len: u32) -> Option<&[u8]> {
        let (at, len, chunk_len) = (at as usize, len as usize, self.shape.chunk_len);
        let is_inside = at < self.places_at() && at % chunk_len + len <= chunk_len;
        // SAFETY: in a chunk, which is mapped, has been written since it was mapped, and is this
        // process's.
        is_inside.then(|| unsafe {
            std::slice::from_raw_parts(self.mapping.start().as_ptr().add(at), len)
        })
    }

    /// The place with this number, with room for the longest frame.
    ///
    /// # Safety
    /// The place is this process's as long as the result lives.
    #[inline]
    pub(super) unsafe fn place_mut(&mut self, place: usize) -> &mut [u8] {
        assert!(place < PLACES);
        let at = self.place_at(place) as usize;
        // SAFETY: a place, which is mapped and this process's, and self is borrowed.
        unsafe {
            std::slice::from_raw_parts_mut(self.mapping.start().as_ptr().add(at), FRAME_LEN_MAX)
        }
    }
}
