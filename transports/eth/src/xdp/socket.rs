//! A socket of AF_XDP, which sends and receives frames of one receive queue of an interface.
//! `unsafe`: the memory for frames is shared with the kernel.
#![allow(unsafe_code)]

use super::area::{Area, PLACES, Shape};
use super::program::QUEUES_MAX;
use super::ring::{Consumer, Producer};
use crate::{Interface, NoXdp, QueueFull};
use goal_esp::endpoint::FRAME_LEN_MAX;
use rustix::io::Errno;
use rustix::net::xdp::{SocketAddrXdp, SocketAddrXdpFlags, XdpDesc, XdpDescOptions};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, send, socket_with,
    sockopt,
};
use std::io;
use std::os::fd::OwnedFd;
use zerocopy::IntoBytes;

/// A buffer in which a received frame of several chunks is put together.
struct Whole {
    /// The bytes, in words so that the frame is aligned to 8 bytes.
    words: Box<[u64]>,
    len: usize,
    /// Set if the frame is longer than the buffer. Such a frame is dropped.
    is_too_long: bool,
}

impl Whole {
    fn new(len_max: usize) -> Self {
        Self { words: vec![0; len_max.div_ceil(8)].into(), len: 0, is_too_long: false }
    }

    fn is_empty(&self) -> bool {
        self.len == 0 && !self.is_too_long
    }

    fn push(&mut self, piece: &[u8]) {
        let room = &mut self.words.as_mut_bytes()[self.len..];
        match room.get_mut(..piece.len()) {
            Some(room) => {
                room.copy_from_slice(piece);
                self.len += piece.len();
            }
            None => self.is_too_long = true,
        }
    }

    /// Returns the frame after its last chunk, and empties the buffer.
    fn take(&mut self) -> Option<&[u8]> {
        let (len, is_whole) =
            (std::mem::take(&mut self.len), !std::mem::take(&mut self.is_too_long));
        is_whole.then(|| &self.words.as_bytes()[..len])
    }
}

/// The rings of a socket.
struct Rings {
    /// The ring of chunks into which the kernel may write received frames.
    fill: Producer<u64>,
    /// The ring of received frames.
    arrived: Consumer<XdpDesc>,
    /// The ring of frames to send.
    leaving: Producer<XdpDesc>,
    /// The ring of chunks whose frames were sent.
    gone: Consumer<u64>,
}

impl Rings {
    /// Returns the number of entries of the rings for received frames, and for frames to send.
    fn sizes(shape: Shape) -> (u32, u32) {
        // The kernel updates its position in a ring only after it has taken all entries that it
        // saw. So twice as many entries may seem to be in the ring.
        let size = |entries: usize| 2 * entries.next_power_of_two() as u32;
        (size(shape.chunks()), size(PLACES * shape.place_len / shape.chunk_len))
    }

    fn new(fd: &OwnedFd, shape: Shape) -> io::Result<Self> {
        let (arriving, leaving) = Self::sizes(shape);
        sockopt::set_xdp_umem_fill_ring_size(fd, arriving)?;
        sockopt::set_xdp_rx_ring_size(fd, arriving)?;
        sockopt::set_xdp_tx_ring_size(fd, leaving)?;
        sockopt::set_xdp_umem_completion_ring_size(fd, leaving)?;
        Self::over(fd, shape)
    }

    /// Maps the rings of a socket that were made before.
    fn over(fd: &OwnedFd, shape: Shape) -> io::Result<Self> {
        let (arriving, leaving) = Self::sizes(shape);
        let at = sockopt::xdp_mmap_offsets(fd)?;
        Ok(Self {
            fill: Producer::new(fd, at.fr, arriving, libc::XDP_UMEM_PGOFF_FILL_RING)?,
            arrived: Consumer::new(fd, at.rx, arriving, libc::XDP_PGOFF_RX_RING as u64)?,
            leaving: Producer::new(fd, at.tx, leaving, libc::XDP_PGOFF_TX_RING as u64)?,
            gone: Consumer::new(fd, at.cr, leaving, libc::XDP_UMEM_PGOFF_COMPLETION_RING)?,
        })
    }
}

/// Returns the length of the longest frame of an interface.
fn len_max(interface: &Interface) -> usize {
    goal_esp::wire::Frame::<&[u8]>::HEADER_LEN + interface.usable_mtu()
}

/// A socket of AF_XDP with its rings and its memory for frames.
pub(super) struct Socket {
    rings: Rings,
    area: Area,
    whole: Whole,
    /// The places for frames to send that have no frame.
    free: Vec<u8>,
    /// For each place, the number of its chunks that the kernel has.
    pieces: [u8; PLACES],
    /// Set while the kernel must be told of published frames.
    is_due: bool,
    /// The number of received frames.
    taken: u64,
    queue: u32,
    fd: OwnedFd,
}

impl Socket {
    /// Opens a socket for the first receive queue of the interface that has no AF_XDP socket yet.
    pub(super) fn open(interface: &Interface) -> Result<Self, NoXdp> {
        let fd = Self::fd()?;
        let shape = Shape::new(len_max(interface));
        let area = Area::new(&fd, shape).map_err(|cause| match cause.raw_os_error() {
            Some(libc::ENOBUFS) => NoXdp::Memory { bytes: shape.len() },
            _ => NoXdp::System { what: "no memory to share with the kernel", cause },
        })?;
        let rings =
            Rings::new(&fd, shape).map_err(NoXdp::system("no rings to share with the kernel"))?;
        let mut socket = Self::new(fd, interface, area, rings);
        for chunk in 0..shape.chunks() {
            socket.rings.fill.push((chunk * shape.chunk_len) as u64);
        }
        socket.rings.fill.publish();
        socket.bind(interface)?;
        socket.wake_receiver();
        Ok(socket)
    }

    /// Returns the socket that another process opened for this interface and has not used, with its
    /// memory file.
    pub(super) fn over(interface: &Interface, fd: OwnedFd, file: OwnedFd) -> io::Result<Self> {
        let shape = Shape::new(len_max(interface));
        let area = Area::over(file, shape)?;
        let rings = Rings::over(&fd, shape)?;
        Ok(Self::new(fd, interface, area, rings))
    }

    fn new(fd: OwnedFd, interface: &Interface, area: Area, rings: Rings) -> Self {
        Self {
            rings,
            area,
            whole: Whole::new(len_max(interface)),
            free: (0..PLACES as u8).rev().collect(),
            pieces: [0; PLACES],
            is_due: false,
            taken: 0,
            queue: 0,
            fd,
        }
    }

    /// Returns the memory file with the frames.
    pub(super) fn file(&self) -> &OwnedFd {
        self.area.file()
    }

    fn fd() -> Result<OwnedFd, NoXdp> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        socket_with(AddressFamily::XDP, SocketType::RAW, flags, None).map_err(|errno| {
            NoXdp::of("this system has no sockets of XDP (CONFIG_XDP_SOCKETS)", errno.into())
        })
    }

    /// Checks that an AF_XDP socket can be opened.
    pub(super) fn probe() -> Result<(), NoXdp> {
        Self::fd().map(drop)
    }

    /// Binds the socket to the first free receive queue. The kernel avoids copies of frames if the
    /// driver of the interface can.
    fn bind(&mut self, interface: &Interface) -> Result<(), NoXdp> {
        let mut flags = SocketAddrXdpFlags::XDP_USE_NEED_WAKEUP;
        flags.set(SocketAddrXdpFlags::XDP_USE_SG, self.area.shape().pieces_max > 1);
        for queue in 0..QUEUES_MAX {
            match bind(&self.fd, &SocketAddrXdp::new(flags, interface.index, queue)) {
                Ok(()) => {
                    self.queue = queue;
                    return Ok(());
                }
                Err(Errno::BUSY) => {}
                // There is no such queue.
                Err(Errno::INVAL) if queue > 0 => break,
                Err(errno) => {
                    return Err(NoXdp::of("a socket of XDP can't be bound", errno.into()));
                }
            }
        }
        Err(NoXdp::Queues { interface: interface.name.clone() })
    }

    /// Returns the number of the receive queue to which the socket is bound.
    pub(super) fn queue(&self) -> u32 {
        self.queue
    }

    /// Returns the descriptor.
    pub(super) fn as_fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// Returns the number of received frames, and of frames that were dropped for want of room.
    pub(super) fn counts(&self) -> io::Result<(u64, u64)> {
        let stats = sockopt::xdp_statistics(&self.fd)?;
        Ok((self.taken, stats.rx_dropped + stats.rx_ring_full.unwrap_or(0)))
    }

    /// Returns true if a frame or a part of one has arrived.
    #[inline]
    pub(super) fn has_frame(&self) -> bool {
        self.rings.arrived.has_entry()
    }

    /// Calls `sink` with received frames, as [`Driver::receive`](crate::Driver::receive) does.
    pub(super) fn receive(&mut self, frames_max: usize, sink: &mut impl FnMut(&[u8])) -> usize {
        let mut count = 0;
        while count < frames_max
            && let Some(XdpDesc { addr, len, options }) = self.rings.arrived.pop()
        {
            // SAFETY: the kernel has moved the chunk from the fill ring to this one. It gets it
            // back below, after the last use of `piece`.
            let piece = unsafe { self.area.arrived(addr, len) };
            let goes_on = options.contains(XdpDescOptions::XDP_PKT_CONTD);
            match piece {
                Some(frame)
                    if !goes_on
                        && self.whole.is_empty()
                        && frame.as_ptr().addr().is_multiple_of(8) =>
                {
                    sink(frame);
                }
                piece => {
                    self.whole.push(piece.unwrap_or_default());
                    if !goes_on && let Some(frame) = self.whole.take() {
                        sink(frame);
                    }
                }
            }
            count += usize::from(!goes_on);
            self.rings.fill.push(addr & !(self.area.shape().chunk_len as u64 - 1));
        }
        self.rings.arrived.release();
        self.rings.fill.publish();
        self.wake_receiver();
        self.taken += count as u64;
        count
    }

    /// Wakes the interface if it has stopped for want of chunks.
    #[inline]
    fn wake_receiver(&self) {
        if self.rings.fill.needs_call() {
            // The call receives nothing, and usually returns an error that says so.
            let _ = recv(&self.fd, &mut [0; 0][..], RecvFlags::DONTWAIT);
        }
    }

    /// Lets `write` write the next frame, as [`Driver::send`](crate::Driver::send) does.
    pub(super) fn send(
        &mut self,
        write: impl FnOnce(&mut [u8]) -> Option<usize>,
    ) -> Result<bool, QueueFull> {
        if self.free.is_empty() {
            self.reclaim();
        }
        let place = usize::from(*self.free.last().ok_or(QueueFull)?);
        // SAFETY: a place without a frame belongs to this process.
        let Some(len) = write(unsafe { self.area.place_mut(place) }) else { return Ok(false) };
        assert!(len <= FRAME_LEN_MAX, "a frame is not longer than its place");
        self.free.pop();
        let (at, chunk_len) = (self.area.place_at(place), self.area.shape().chunk_len);
        let pieces = len.div_ceil(chunk_len).max(1);
        self.pieces[place] = pieces as u8;
        for piece in 0..pieces {
            let from = piece * chunk_len;
            let is_last = piece + 1 == pieces;
            let options =
                if is_last { XdpDescOptions::empty() } else { XdpDescOptions::XDP_PKT_CONTD };
            let len = (len - from).min(chunk_len) as u32;
            self.rings.leaving.push(XdpDesc { addr: at + from as u64, len, options });
        }
        Ok(true)
    }

    /// Frees the places of frames that were sent.
    fn reclaim(&mut self) {
        while let Some(at) = self.rings.gone.pop() {
            let place = self.area.place(at).expect("the kernel gives back what it was given");
            self.pieces[place] -= 1;
            if self.pieces[place] == 0 {
                self.free.push(place as u8);
            }
        }
        self.rings.gone.release();
    }

    /// Returns true if the kernel has not taken all written frames.
    pub(super) fn has_unsent(&self) -> bool {
        self.is_due
    }

    /// Makes the kernel send the frames for which it has room.
    pub(super) fn flush(&mut self) -> Result<(), Errno> {
        // If an error left frames in all places, only the kernel can free them.
        self.is_due |= self.rings.leaving.publish() | self.free.is_empty();
        let mut left = self.rings.leaving.left();
        while self.is_due && left > 0 && self.rings.leaving.needs_call() {
            match send(&self.fd, &[], SendFlags::DONTWAIT) {
                Ok(_) => break,
                Err(Errno::INTR) => {}
                // The kernel takes no more frames in one call, or its queue or memory is full.
                Err(Errno::AGAIN | Errno::BUSY | Errno::NOBUFS) => {
                    let before = std::mem::replace(&mut left, self.rings.leaving.left());
                    if left == before {
                        break;
                    }
                }
                Err(errno) => {
                    // The frames are given up: the same error may come for ever.
                    self.is_due = false;
                    return Err(errno);
                }
            }
        }
        self.is_due &= self.rings.leaving.left() > 0;
        Ok(())
    }
}
