//! A barrier for measurements, in a memory file.
#![allow(unsafe_code)] // the one use of a mapping

use super::mapping::Mapping;
use goal_sync::start_barrier::BarrierWords;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

/// A barrier in a memory file of its own, which processes can use any number of times. It releases
/// all of them within the time that one cache line takes to travel.
#[derive(Debug)]
pub struct Barrier(Mapping);

impl Barrier {
    /// Creates a barrier at which nobody has arrived.
    ///
    /// # Errors
    /// The system's error.
    pub fn create() -> io::Result<Self> {
        Mapping::create(size_of::<BarrierWords>()).map(Self)
    }

    /// Maps the barrier that another process created.
    ///
    /// # Errors
    /// The system's error; [`io::ErrorKind::InvalidInput`] if the descriptor is not of a barrier's
    /// memory file.
    pub fn open(fd: OwnedFd) -> io::Result<Self> {
        Mapping::open(fd, size_of::<BarrierWords>()).map(Self)
    }

    /// The memory file.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.0.fd()
    }

    /// Waits until `ranks` ranks have called this. Calls `pause` between two looks at the barrier.
    pub fn wait(&self, ranks: u32, pause: impl FnMut()) {
        // SAFETY: the mapping is private to this type, which uses it in no other way.
        unsafe { self.0.words::<BarrierWords>(0) }.wait(ranks, pause);
    }
}
