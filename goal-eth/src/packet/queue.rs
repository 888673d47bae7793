//! Frames that are to leave, and their way into the kernel: several with one call.

#[cfg(test)]
mod tests;

use crate::Full;
use goal_esp::endpoint::FRAME_LEN_MAX;
use rustix::io::Errno;
use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags, send, sendmmsg};
use std::io::IoSlice;
use std::os::fd::OwnedFd;

/// Frames that one call takes at most.
const FRAMES_MAX: usize = 16;
/// Longest refusal of a frame before it is taken for lost. Longer than a queue of the interface
/// needs to let some frames out, and shorter than anything that waits for those behind it.
const REFUSED_MAX_NS: u64 = 1_000_000;

/// Frames in the order in which they leave.
pub(super) struct Queue {
    /// A place for each.
    bytes: Box<[u8]>,
    lens: [usize; FRAMES_MAX],
    /// Those that have left, and those that are there.
    left: usize,
    count: usize,
    /// Since when the first of those that are left is refused.
    refused_ns: Option<u64>,
}

impl Queue {
    pub(super) fn new() -> Self {
        let bytes = vec![0; FRAMES_MAX * FRAME_LEN_MAX].into();
        Self { bytes, lens: [0; FRAMES_MAX], left: 0, count: 0, refused_ns: None }
    }

    /// See [`Driver::send`](crate::Driver::send).
    pub(super) fn push(
        &mut self,
        write: impl FnOnce(&mut [u8]) -> Option<usize>,
    ) -> Result<bool, Full> {
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

    /// Gives `send` the frames until there is none or it takes no more; it says how many of those
    /// it took.
    pub(super) fn flush(
        &mut self,
        now_ns: impl Fn() -> u64,
        mut send: impl FnMut(&[&[u8]]) -> Result<usize, Errno>,
    ) -> Result<(), Errno> {
        while self.left < self.count {
            let frame = |at: usize| &self.bytes[at * FRAME_LEN_MAX..][..self.lens[at]];
            let sent = match self.left + 1 == self.count {
                true => send(&[frame(self.left)]),
                false => {
                    let frames: [&[u8]; FRAMES_MAX] = std::array::from_fn(frame);
                    send(&frames[self.left..self.count])
                }
            };
            match sent {
                Ok(sent) => self.go_on(sent),
                Err(Errno::INTR) => {}
                // The memory that the socket may use is full.
                Err(Errno::AGAIN) => return Ok(()),
                // The interface's queue is full, or what is behind it drops this frame each time.
                Err(Errno::NOBUFS) => {
                    let now_ns = now_ns();
                    if now_ns < *self.refused_ns.get_or_insert(now_ns) + REFUSED_MAX_NS {
                        return Ok(());
                    }
                    self.go_on(1);
                }
                Err(errno) => {
                    // Whatever it is about, the frame must not stand in the way of those behind it
                    // for ever.
                    self.go_on(1);
                    return Err(errno);
                }
            }
        }
        (self.left, self.count) = (0, 0);
        Ok(())
    }

    /// So many frames have left or are lost.
    fn go_on(&mut self, frames: usize) {
        self.left += frames;
        self.refused_ns = None;
    }
}

/// Gives a socket frames, one at least, without waiting. How many it took.
pub(super) fn send_to(socket: &OwnedFd, frames: &[&[u8]]) -> Result<usize, Errno> {
    if let [frame] = frames {
        return send(socket, frame, SendFlags::empty()).map(|_| 1);
    }
    let pieces: [[IoSlice<'_>; 1]; FRAMES_MAX] =
        std::array::from_fn(|at| [IoSlice::new(frames.get(at).copied().unwrap_or_default())]);
    let mut controls: [SendAncillaryBuffer<'_, '_, '_>; FRAMES_MAX] =
        std::array::from_fn(|_| SendAncillaryBuffer::default());
    let mut controls = controls.iter_mut();
    let mut messages = pieces
        .each_ref()
        .map(|piece| MMsgHdr::new(piece, controls.next().expect("as many as there are pieces")));
    sendmmsg(socket, &mut messages[..frames.len()], SendFlags::empty())
}
