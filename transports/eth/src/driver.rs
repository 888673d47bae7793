//! The trait of everything that carries frames to and from an Ethernet.

use goal_esp::wire::Mac;
use std::io;
use std::time::Duration;

/// The most frames that [`Driver::receive_batches`] passes on at a time.
pub const BATCH_MAX: usize = 8;

/// The error that there is no room for another frame until [`Driver::flush`] has sent some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueFull;

/// The error that an interface carries no more frames, because it went down or is gone.
#[derive(Debug, thiserror::Error)]
#[error("interface {interface} carries no more frames: {cause}")]
pub struct LostInterface {
    /// The name of the interface.
    pub(crate) interface: String,
    /// The system's error.
    pub(crate) cause: io::Error,
}

/// One port of an Ethernet interface: sends and receives whole frames, with Ethernet's header.
///
/// Frames are written and read in buffers that the driver owns, so none is allocated.
pub trait Driver {
    /// Returns the address of the interface.
    fn mac(&self) -> Mac;

    /// Returns the most bytes that a frame may have after Ethernet's header.
    fn mtu(&self) -> usize;

    /// Calls `write` with the buffer of the next frame, which has room for the longest frame of ESP
    /// and EDP. `write` returns the length of the frame, at most 14 + [`Driver::mtu`] bytes, or
    /// `None` if it has no frame. Returns true if there was a frame. The frame leaves at the next
    /// [`Driver::flush`].
    ///
    /// # Errors
    /// [`QueueFull`], in which case `write` was not called.
    fn send(&mut self, write: impl FnOnce(&mut [u8]) -> Option<usize>) -> Result<bool, QueueFull>;

    /// Hands the frames of [`Driver::send`] to the interface. Frames that the interface does not
    /// take stay for the next call.
    ///
    /// # Errors
    /// [`LostInterface`].
    fn flush(&mut self) -> Result<(), LostInterface>;

    /// Returns true if [`Driver::amend`] may be called.
    fn can_amend(&self) -> bool {
        false
    }

    /// Calls `change` with the last `count` frames that [`Driver::send`] wrote, in order. All of
    /// them must have been written after the last [`Driver::flush`].
    fn amend(&mut self, count: usize, change: impl FnOnce(&mut [&mut [u8]])) {
        let _ = (count, change);
        unreachable!("this driver can't change frames")
    }

    /// Returns true if the last [`Driver::flush`] left frames behind.
    fn has_unsent(&self) -> bool;

    /// Returns true if a frame has arrived.
    fn has_frame(&self) -> bool;

    /// Calls `sink` with at most `frames_max` frames that have arrived, each in the driver's buffer
    /// and aligned to 8 bytes. Returns their number. The frames are addressed to this interface or
    /// to all, and to this port or to all ports; nothing else about them was checked.
    fn receive(&mut self, frames_max: usize, sink: impl FnMut(&[u8])) -> usize;

    /// Calls `sink` with at most `frames_max` frames as [`Driver::receive`] does, with up to
    /// [`BATCH_MAX`] of them at a time.
    fn receive_batches(&mut self, frames_max: usize, mut sink: impl FnMut(&[&[u8]])) -> usize {
        self.receive(frames_max, |frame| sink(&[frame]))
    }

    /// Sleeps until a frame arrives, until unsent frames may leave, or until `limit` has passed. A
    /// signal may end the sleep early.
    ///
    /// # Errors
    /// [`LostInterface`].
    fn wait(&mut self, limit: Option<Duration>) -> Result<(), LostInterface>;
}
