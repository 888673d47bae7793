//! Bells for ranks that sleep in a poll of the system, because they wait for something else than messages in the segment too. `unsafe`: a
//! descriptor that other processes opened.
#![allow(unsafe_code)]

use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
// Not one that models look at: it is set before there is anybody else.
use std::sync::atomic::{AtomicU32, Ordering};

/// The number of a descriptor (of an eventfd) and 1, or 0 where there is none.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Bell(AtomicU32);

impl Bell {
    /// Hangs a bell up, before the ranks start. All processes of the job have its descriptor under the same number: they inherit it, and
    /// nobody may close it while the job lasts.
    ///
    /// # Errors
    /// What the system says.
    pub fn hang_up(&self) -> io::Result<OwnedFd> {
        let descriptor = eventfd(0, EventfdFlags::NONBLOCK)?;
        self.0.store(descriptor.as_raw_fd() as u32 + 1, Ordering::SeqCst);
        Ok(descriptor)
    }

    /// What is readable when somebody has rung; `None` where there is no bell.
    pub fn descriptor(&self) -> Option<BorrowedFd<'static>> {
        let number = self.0.load(Ordering::Relaxed).checked_sub(1)?;
        // SAFETY: it is open as long as the job lasts (`hang_up`), and so longer than any rank.
        Some(unsafe { BorrowedFd::borrow_raw(number as i32) })
    }

    /// Rings, if there is one.
    pub(super) fn ring(&self) {
        if let Some(descriptor) = self.descriptor() {
            // Fails where it has been rung as often as it can be.
            let _ = rustix::io::write(descriptor, &1u64.to_ne_bytes());
        }
    }

    /// Makes it silent again.
    pub fn silence(&self) {
        if let Some(descriptor) = self.descriptor() {
            // Fails where it is silent.
            let _ = rustix::io::read(descriptor, &mut [0u8; 8][..]);
        }
    }
}
