//! The ring of received frames (TPACKET_V2): the kernel writes them, and this process reads them in
//! place. `unsafe`: memory that is shared with the kernel.
#![allow(unsafe_code)]

use super::sys;
use crate::BATCH_MAX;
use libc::{TP_STATUS_KERNEL, TP_STATUS_USER, TPACKET2_HDRLEN, tpacket_req, tpacket2_hdr};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::io;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// The least number of frames that the ring has room for. It is four times the number of frames
/// that all senders together may have under way (`Config::budget`).
const FRAMES_MIN: usize = 1024;
/// The bytes of a block, which holds several frames.
const BLOCK_LEN: usize = 64 << 10;
/// The alignment of places in a block, in bytes.
const ALIGNMENT: usize = 16;
const ETHERNET_LEN: usize = 14;

/// The layout of frames in a ring.
struct Shape {
    /// The bytes of a place, which holds one frame.
    stride: usize,
    /// The number of places in a block.
    per_block: usize,
    blocks: usize,
}

impl Shape {
    /// Returns the layout for frames with at most `mtu` bytes after Ethernet's header.
    fn of(mtu: usize) -> Self {
        // The kernel aligns the bytes after Ethernet's header to 16 and then adds the reserve of 14
        // bytes. So the header itself is aligned to 16.
        let frame_at = (TPACKET2_HDRLEN + ALIGNMENT).next_multiple_of(ALIGNMENT);
        let stride = (frame_at + ETHERNET_LEN + mtu).next_multiple_of(ALIGNMENT);
        let per_block = BLOCK_LEN / stride;
        Self { stride, per_block, blocks: FRAMES_MIN.div_ceil(per_block) }
    }
}

/// A place of the ring: its block, and its number in the block.
type At = (usize, usize);

/// The ring of received frames of a packet socket.
///
/// Invariant: `start` is the start of a live mapping of `blocks` blocks until `self` is dropped. A
/// place whose status has TP_STATUS_USER belongs to this process until it sets another status. All
/// other places belong to the kernel, except for their status, which both access atomically.
pub(super) struct Ring {
    start: NonNull<u8>,
    blocks: usize,
    /// The bytes of a place, which holds one frame.
    stride: usize,
    /// The number of places in a block.
    per_block: usize,
    /// The place of the next frame.
    next: At,
}

// SAFETY: the mapping belongs to no thread, and only the owner of the ring has its address.
unsafe impl Send for Ring {}

impl Ring {
    /// Makes the ring of a socket, for frames with at most `mtu` bytes after Ethernet's header.
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

    /// Maps the ring that [`Ring::new`] made for a socket, from which no frame was taken. With
    /// another `mtu` than in [`Ring::new`] the size differs, and the system refuses the mapping.
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

    /// Returns the place of a frame.
    #[inline]
    fn place(&self, (block, place): At) -> NonNull<u8> {
        // SAFETY: an `At` is inside the ring, which is mapped.
        unsafe { self.start.add(block * BLOCK_LEN + place * self.stride) }
    }

    /// Returns the place that follows a place. The first place follows the last one.
    fn after(&self, (block, place): At) -> At {
        if place + 1 < self.per_block {
            (block, place + 1)
        } else if block + 1 < self.blocks {
            (block + 1, 0)
        } else {
            (0, 0)
        }
    }

    #[inline]
    fn status(&self, at: At) -> &AtomicU32 {
        // SAFETY: a place begins with its header, aligned to 16, whose first word is the status.
        // This process and the kernel access it atomically only, and it is mapped as long as self.
        unsafe { AtomicU32::from_ptr(self.place(at).cast().as_ptr()) }
    }

    /// Returns true if a frame has arrived.
    #[inline]
    pub(super) fn has_frame(&self) -> bool {
        self.has_frame_at(self.next)
    }

    #[inline]
    fn has_frame_at(&self, at: At) -> bool {
        // Acquire pairs with the kernel's write barrier before it sets the status: the frame is
        // read after the kernel has written it.
        self.status(at).load(Ordering::Acquire) & TP_STATUS_USER != 0
    }

    /// Calls `sink` with at most `frames_max` frames, up to [`BATCH_MAX`] at a time. Returns the
    /// number of frames taken. It includes frames that did not fit into their places, which `sink`
    /// does not get.
    pub(super) fn receive(&mut self, frames_max: usize, mut sink: impl FnMut(&[&[u8]])) -> usize {
        let mut count = 0;
        while count < frames_max && self.has_frame() {
            let mut frames: [&[u8]; BATCH_MAX] = [&[]; BATCH_MAX];
            let (mut taken, mut whole, mut end) = (0, 0, self.next);
            while taken < BATCH_MAX.min(frames_max - count) && self.has_frame_at(end) {
                if let Some(frame) = self.frame(end) {
                    frames[whole] = frame;
                    whole += 1;
                }
                (taken, end) = (taken + 1, self.after(end));
            }
            sink(&frames[..whole]);
            while self.next != end {
                // Release: the frame is read before the kernel can write the next one to the place.
                self.status(self.next).store(TP_STATUS_KERNEL, Ordering::Release);
                self.next = self.after(self.next);
            }
            count += taken;
        }
        count
    }

    /// Returns the frame at a place, which must belong to this process; `None` if the frame did not
    /// fit into the place.
    fn frame(&self, at: At) -> Option<&[u8]> {
        let place = self.place(at);
        // SAFETY: the place begins with a header and belongs to this process.
        let header = unsafe { place.cast::<tpacket2_hdr>().read() };
        let (at, len) = (usize::from(header.tp_mac), header.tp_snaplen as usize);
        let fits = len <= self.stride && at <= self.stride - len;
        let is_whole = header.tp_len == header.tp_snaplen && fits;
        // SAFETY: inside the place, which the kernel does not write while the status stays. The
        // status changes only after the borrow of self has ended.
        is_whole.then(|| unsafe { std::slice::from_raw_parts(place.as_ptr().add(at), len) })
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this length, and no borrow of it is left. An error can
        // only mean that it is not mapped.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.blocks * BLOCK_LEN) };
    }
}
