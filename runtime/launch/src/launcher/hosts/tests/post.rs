//! Tests of an interface that takes few frames at a time.

use crate::launcher::hosts::post::transmit;
use goal_esp::wire::Mac;
use goal_eth::{Driver, LostInterface, QueueFull};
use std::time::Duration;

/// The number of buffers of the driver.
const PLACES: usize = 2;

/// An interface that takes `room` frames in all.
struct Narrow {
    placed: usize,
    left: usize,
    room: usize,
}

impl Driver for Narrow {
    fn mac(&self) -> Mac {
        Mac([2, 0, 0, 0, 0, 1])
    }

    fn mtu(&self) -> usize {
        1500
    }

    fn send(&mut self, write: impl FnOnce(&mut [u8]) -> Option<usize>) -> Result<bool, QueueFull> {
        if self.placed == PLACES {
            return Err(QueueFull);
        }
        let is_there = write(&mut [0; 60]).is_some();
        self.placed += usize::from(is_there);
        Ok(is_there)
    }

    fn flush(&mut self) -> Result<(), LostInterface> {
        let taken = self.placed.min(self.room - self.left);
        self.left += taken;
        self.placed -= taken;
        Ok(())
    }

    fn has_unsent(&self) -> bool {
        self.placed > 0
    }

    fn has_frame(&self) -> bool {
        false
    }

    fn receive(&mut self, _frames_max: usize, _sink: impl FnMut(&[u8])) -> usize {
        0
    }

    fn wait(&mut self, _limit: Option<Duration>) -> Result<(), LostInterface> {
        Ok(())
    }
}

/// Returns the numbers of frames that are sent and that wait, if there are `frames` of them.
fn transmitted(frames: usize, room: usize) -> (usize, usize) {
    let mut driver = Narrow { placed: 0, left: 0, room };
    let mut frames = 0..frames;
    transmit(&mut driver, |_| frames.next().map(|_| 60)).expect("an interface that is up");
    (driver.left, driver.placed)
}

#[test]
fn more_frames_leave_than_there_are_places() {
    for frames in 0..8 {
        assert_eq!(transmitted(frames, 100), (frames, 0));
    }
}

#[test]
fn what_the_interface_does_not_take_waits() {
    assert_eq!(transmitted(8, 5), (5, 1));
    assert_eq!(transmitted(8, 0), (0, 2));
}
