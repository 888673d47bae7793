//! The ring of frames that arrive (TPACKET_V2), which the kernel writes and this process reads
//! where they lie. `unsafe`: memory that is shared with the kernel.
#![allow(unsafe_code)]

use super::sys;
use libc::{TP_STATUS_KERNEL, TP_STATUS_USER, TPACKET2_HDRLEN, tpacket_req, tpacket2_hdr};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::io;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// Frames for which there is room: those that all senders together may have under way
/// (`Config::budget`), four times.
const FRAMES_MIN: usize = 1024;
/// Bytes of a block, in which frames lie one behind the other.
const BLOCK_LEN: usize = 64 << 10;
/// What places in a block are multiples of.
const ALIGNMENT: usize = 16;
const ETHERNET_LEN: usize = 14;

/// The layout of frames in a ring.
struct Shape {
    /// Bytes between two places, and places in a block.
    stride: usize,
    per_block: usize,
    blocks: usize,
}

impl Shape {
    /// For frames with at most `mtu` bytes behind Ethernet's header.
    fn of(mtu: usize) -> Self {
        // The kernel aligns what is behind Ethernet's header to 16, and adds the reserve: so the
        // header begins at a multiple of 16.
        let frame_at = (TPACKET2_HDRLEN + ALIGNMENT).next_multiple_of(ALIGNMENT);
        let stride = (frame_at + ETHERNET_LEN + mtu).next_multiple_of(ALIGNMENT);
        let per_block = BLOCK_LEN / stride;
        Self { stride, per_block, blocks: FRAMES_MIN.div_ceil(per_block) }
    }
}

/// The ring.
///
/// Invariant: `start` is the start of a live mapping of `blocks` blocks until `self` is dropped. A
/// place whose status has TP_STATUS_USER is this process's until it sets another status; all others
/// are the kernel's, but for the status.
pub(super) struct Ring {
    start: NonNull<u8>,
    blocks: usize,
    /// Bytes between two places, and places in a block.
    stride: usize,
    per_block: usize,
    /// The place of the next frame, as block and place in it.
    next: (usize, usize),
}

// SAFETY: the mapping belongs to no thread, and only the owner of the ring reaches it.
unsafe impl Send for Ring {}

impl Ring {
    /// The ring of a socket for frames with at most `mtu` bytes behind Ethernet's header.
    pub(super) fn new(socket: &OwnedFd, mtu: usize) -> io::Result<Self> {
        sys::set_option(socket, libc::PACKET_RESERVE, ETHERNET_LEN as i32)?;
        let Shape { stride, per_block, blocks } = Shape::of(mtu);
        let request = tpacket_req {
            tp_block_size: BLOCK_LEN as u32,
            tp_block_nr: blocks as u32,
            tp_frame_size: stride as u32,
            tp_frame_nr: (blocks * per_block) as u32,
        };
        sys::set_receive_ring(socket, &request)?;
        Self::over(socket, mtu)
    }

    /// The ring that was made so for a socket, from which nobody has taken a frame. What the system
    /// maps is what was made, so another `mtu` is an error.
    pub(super) fn over(socket: &OwnedFd, mtu: usize) -> io::Result<Self> {
        let Shape { stride, per_block, blocks } = Shape::of(mtu);
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses an unused address; no existing mapping is touched.
        let start = unsafe {
            mmap(std::ptr::null_mut(), blocks * BLOCK_LEN, protection, MapFlags::SHARED, socket, 0)?
        };
        let start = NonNull::new(start.cast()).expect("a mapping is not at address 0");
        Ok(Self { start, blocks, stride, per_block, next: (0, 0) })
    }

    /// The next place.
    #[inline]
    fn place(&self) -> NonNull<u8> {
        let (block, place) = self.next;
        // SAFETY: `next` is inside the ring, which is mapped.
        unsafe { self.start.add(block * BLOCK_LEN + place * self.stride) }
    }

    #[inline]
    fn status(&self) -> &AtomicU32 {
        // SAFETY: a place begins with its header, aligned to 16, whose first word is the status.
        // This process and the kernel reach it atomically only, and it is mapped as long as self.
        unsafe { AtomicU32::from_ptr(self.place().cast().as_ptr()) }
    }

    /// Whether a frame has arrived.
    #[inline]
    pub(super) fn has_frame(&self) -> bool {
        self.status().load(Ordering::Acquire) & TP_STATUS_USER != 0
    }

    /// Hands at most `frames_max` frames to `sink`. One that had no room as a whole counts, but is
    /// left out.
    pub(super) fn receive(&mut self, frames_max: usize, mut sink: impl FnMut(&[u8])) -> usize {
        for count in 0..frames_max {
            if !self.has_frame() {
                return count;
            }
            if let Some(frame) = self.frame() {
                sink(frame);
            }
            self.status().store(TP_STATUS_KERNEL, Ordering::Release);
            let (block, place) = self.next;
            self.next = if place + 1 < self.per_block {
                (block, place + 1)
            } else if block + 1 < self.blocks {
                (block + 1, 0)
            } else {
                (0, 0)
            };
        }
        frames_max
    }

    /// The frame at the next place, which must be this process's.
    fn frame(&self) -> Option<&[u8]> {
        let place = self.place();
        // SAFETY: the place begins with a header, and is this process's.
        let header = unsafe { place.cast::<tpacket2_hdr>().read() };
        let (at, len) = (usize::from(header.tp_mac), header.tp_snaplen as usize);
        let is_whole = header.tp_len == header.tp_snaplen && at + len <= self.stride;
        // SAFETY: inside the place, which nobody writes to while its status stays as it is; and
        // that changes only when the borrow of self has ended.
        is_whole.then(|| unsafe { std::slice::from_raw_parts(place.as_ptr().add(at), len) })
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this length, and nothing of it is lent any more. An
        // error can only mean that it is not mapped, which leaves nothing to do.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.blocks * BLOCK_LEN) };
    }
}
