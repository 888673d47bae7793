//! A driver as what carries the frames of streams.

use super::{Driver, Frames, Full, Lost};
use crate::now_ns;
use std::time::Duration;

/// A driver and the clock. What its interface doesn't carry is lost, as frames may be: a link that
/// comes back in time does no harm.
pub struct Wire<D> {
    driver: D,
    fault: Option<Lost>,
}

impl<D: Driver> Wire<D> {
    /// Frames by `driver`.
    pub fn new(driver: D) -> Self {
        Self { driver, fault: None }
    }

    /// What its interface said last where it carried no frames.
    pub fn fault(&self) -> Option<&Lost> {
        self.fault.as_ref()
    }

    /// The driver.
    pub fn driver(&self) -> &D {
        &self.driver
    }

    /// Sleeps as [`Driver::wait`] does.
    pub fn wait(&mut self, limit: Option<Duration>) {
        let waited = self.driver.wait(limit);
        self.note(waited);
    }

    fn note(&mut self, result: Result<(), Lost>) {
        if let Err(lost) = result {
            self.fault = Some(lost);
        }
    }
}

impl<D: Driver> Frames for Wire<D> {
    #[inline]
    fn now_ns(&self) -> u64 {
        now_ns()
    }

    #[inline]
    fn send(&mut self, write: impl FnOnce(&mut [u8]) -> Option<usize>) -> Result<bool, Full> {
        self.driver.send(write)
    }

    fn flush(&mut self) {
        let flushed = self.driver.flush();
        self.note(flushed);
    }

    #[inline]
    fn has_left_over(&self) -> bool {
        self.driver.has_left_over()
    }

    #[inline]
    fn has_frame(&self) -> bool {
        self.driver.has_frame()
    }

    #[inline]
    fn receive(&mut self, frames_max: usize, sink: impl FnMut(&[u8])) -> usize {
        self.driver.receive(frames_max, sink)
    }
}
