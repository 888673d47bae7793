//! The queue of frames to send, which are handed to the kernel several with one call.

#[cfg(test)]
mod tests;

use crate::QueueFull;
use goal_esp::endpoint::FRAME_LEN_MAX;
use rustix::io::Errno;
use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags, send, sendmmsg};
use std::io::IoSlice;
use std::os::fd::OwnedFd;

/// The most frames in the queue, and in one call.
const FRAMES_MAX: usize = 16;
/// The nanoseconds for which the kernel may refuse a frame before the frame is dropped. The
/// interface's queue sends some frames in less time. Every timeout of the frames behind is longer.
const REFUSED_MAX_NS: u64 = 1_000_000;

/// The frames to send, in order.
pub(super) struct Queue {
    /// A buffer of [`FRAME_LEN_MAX`] bytes for each frame.
    bytes: Box<[u8]>,
    lens: [usize; FRAMES_MAX],
    /// The number of frames at the front of the queue that were sent or dropped.
    left: usize,
    /// The number of all frames in the queue.
    count: usize,
    /// The time in nanoseconds at which the kernel first refused the first remaining frame; `None`
    /// if it has not.
    refused_ns: Option<u64>,
}

impl Queue {
    pub(super) fn new() -> Self {
        let bytes = vec![0; FRAMES_MAX * FRAME_LEN_MAX].into();
        Self { bytes, lens: [0; FRAMES_MAX], left: 0, count: 0, refused_ns: None }
    }

    /// Lets `write` write the next frame, as [`Driver::send`](crate::Driver::send) does.
    pub(super) fn push(
        &mut self,
        write: impl FnOnce(&mut [u8]) -> Option<usize>,
    ) -> Result<bool, QueueFull> {
        if self.count == FRAMES_MAX {
            return Err(QueueFull);
        }
        let place = &mut self.bytes[self.count * FRAME_LEN_MAX..][..FRAME_LEN_MAX];
        let Some(len) = write(place) else { return Ok(false) };
        assert!(len <= FRAME_LEN_MAX, "a frame is not longer than its place");
        self.lens[self.count] = len;
        self.count += 1;
        Ok(true)
    }

    /// Lets `change` change the last `count` frames, as [`Driver::amend`](crate::Driver::amend)
    /// does.
    pub(super) fn amend(&mut self, count: usize, change: impl FnOnce(&mut [&mut [u8]])) {
        let first = self.count - count;
        let mut frames: [&mut [u8]; FRAMES_MAX] = Default::default();
        let places = self.bytes.chunks_exact_mut(FRAME_LEN_MAX).zip(&self.lens).skip(first);
        for (frame, (place, &len)) in frames[..count].iter_mut().zip(places) {
            *frame = &mut place[..len];
        }
        change(&mut frames[..count]);
    }

    /// Returns true if no frame is left to send.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Calls `send` with the remaining frames until it has accepted all of them or accepts no more.
    /// `send` returns the number of frames that it accepted.
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
                Ok(sent) => self.remove(sent),
                Err(Errno::INTR) => {}
                // The socket's send buffer is full.
                Err(Errno::AGAIN) => return Ok(()),
                // The interface's queue is full, or the interface refuses this frame every time.
                Err(Errno::NOBUFS) => {
                    let now_ns = now_ns();
                    if now_ns < *self.refused_ns.get_or_insert(now_ns) + REFUSED_MAX_NS {
                        return Ok(());
                    }
                    self.remove(1);
                }
                Err(errno) => {
                    // The frame is dropped. Otherwise the same error may come again, and would
                    // block the frames behind.
                    self.remove(1);
                    return Err(errno);
                }
            }
        }
        (self.left, self.count) = (0, 0);
        Ok(())
    }

    /// Removes frames that were sent or dropped.
    fn remove(&mut self, frames: usize) {
        self.left += frames;
        self.refused_ns = None;
    }
}

/// Hands frames, at least one, to a socket without waiting. Returns the number of frames that the
/// socket accepted.
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
