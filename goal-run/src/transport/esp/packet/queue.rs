//! Frames that are to leave, and their way into the kernel: several with one call.

use crate::transport::esp::Full;
use goal_esp::endpoint::FRAME_LEN_MAX;
use rustix::io::Errno;
use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags, send, sendmmsg};
use std::io::IoSlice;
use std::os::fd::OwnedFd;

/// Frames that one call takes at most.
const FRAMES_MAX: usize = 16;

/// Frames in the order in which they leave.
pub(super) struct Queue {
    /// A place for each.
    bytes: Box<[u8]>,
    lens: [usize; FRAMES_MAX],
    /// Those that have left, and those that are there.
    left: usize,
    count: usize,
}

impl Queue {
    pub(super) fn new() -> Self {
        let bytes = vec![0; FRAMES_MAX * FRAME_LEN_MAX].into();
        Self { bytes, lens: [0; FRAMES_MAX], left: 0, count: 0 }
    }

    /// See [`Driver::send`](crate::transport::esp::Driver::send).
    pub(super) fn push(&mut self, write: impl FnOnce(&mut [u8]) -> Option<usize>) -> Result<bool, Full> {
        if self.count == FRAMES_MAX {
            return Err(Full);
        }
        let place = &mut self.bytes[self.count * FRAME_LEN_MAX..][..FRAME_LEN_MAX];
        let Some(len) = write(place) else { return Ok(false) };
        assert!(len <= FRAME_LEN_MAX, "a frame is not longer than its place");
        self.lens[self.count] = len;
        self.count += 1;
        Ok(true)
    }

    /// Whether none is left.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Sends what the socket takes without waiting.
    pub(super) fn flush(&mut self, socket: &OwnedFd) -> Result<(), Errno> {
        while self.left < self.count {
            match self.send_some(socket) {
                Ok(sent) => self.left += sent,
                Err(Errno::INTR) => {}
                // The interface's queue is full, or the memory that the socket may use.
                Err(Errno::AGAIN | Errno::NOBUFS) => return Ok(()),
                Err(errno) => {
                    // Whatever it is about, the frame must not stand in the way of those behind it for ever.
                    self.left += 1;
                    return Err(errno);
                }
            }
        }
        (self.left, self.count) = (0, 0);
        Ok(())
    }

    fn send_some(&self, socket: &OwnedFd) -> Result<usize, Errno> {
        let frame = |at: usize| &self.bytes[at * FRAME_LEN_MAX..][..self.lens[at]];
        if self.left + 1 == self.count {
            return send(socket, frame(self.left), SendFlags::empty()).map(|_| 1);
        }
        let pieces: [[IoSlice<'_>; 1]; FRAMES_MAX] = std::array::from_fn(|at| [IoSlice::new(frame(at))]);
        let mut controls: [SendAncillaryBuffer<'_, '_, '_>; FRAMES_MAX] =
            std::array::from_fn(|_| SendAncillaryBuffer::default());
        let mut controls = controls.iter_mut();
        let mut messages = pieces
            .each_ref()
            .map(|piece| MMsgHdr::new(piece, controls.next().expect("as many as there are pieces")));
        sendmmsg(socket, &mut messages[self.left..self.count], SendFlags::empty())
    }
}
