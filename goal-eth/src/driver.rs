//! What ESP asks of a way to Ethernet.

use goal_esp::wire::Mac;
use std::io;
use std::time::Duration;

/// There is no room for a frame before [`Driver::flush`] gets some out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

/// The interface carries no more frames.
#[derive(Debug, thiserror::Error)]
#[error("interface {interface} carries no more frames: {cause}")]
pub struct Lost {
    /// Its name.
    pub interface: String,
    /// What the system says: it went down, or it is gone.
    pub cause: io::Error,
}

/// One port's way to and from an interface. Frames are whole, with Ethernet's header; none is
/// allocated.
pub trait Driver {
    /// Address of the interface.
    fn mac(&self) -> Mac;

    /// Most bytes of a frame behind Ethernet's header.
    fn mtu(&self) -> usize;

    /// Hands `write` the place of the next frame, with room for the longest frame of ESP and EDP.
    /// It says how many bytes the frame has, at most 14 + [`Driver::mtu`], or that there is none,
    /// and so does this. The frame leaves at the next [`Driver::flush`].
    ///
    /// # Errors
    /// [`Full`]: `write` was not called.
    fn send(&mut self, write: impl FnOnce(&mut [u8]) -> Option<usize>) -> Result<bool, Full>;

    /// Gives the interface the frames that were sent, as many as it takes; the rest stays for the
    /// next call.
    ///
    /// # Errors
    /// [`Lost`].
    fn flush(&mut self) -> Result<(), Lost>;

    /// Whether frames that were sent are still here after [`Driver::flush`].
    fn has_left_over(&self) -> bool;

    /// Whether a frame has arrived.
    fn has_frame(&self) -> bool;

    /// Hands at most `frames_max` frames that have arrived to `sink`, each in place and beginning
    /// at a multiple of 8; how many. Those are for this interface or for all, and for this port or
    /// for all; nothing else was checked.
    fn receive(&mut self, frames_max: usize, sink: impl FnMut(&[u8])) -> usize;

    /// Sleeps until a frame arrives or `limit` passes, or until frames that [`Driver::flush`] left
    /// may leave. A signal may end it early.
    ///
    /// # Errors
    /// [`Lost`].
    fn wait(&mut self, limit: Option<Duration>) -> Result<(), Lost>;
}
