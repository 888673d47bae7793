//! A ring of one sender and one receiver, for payloads that a mailbox's slot is too small for
//! (RMA's ring of buffers; D8.1 2.4).
//!
//! ```text
//! ends    line 0 | written u64 | seen u64 |   sender
//!         line 1 | taken u64 |                receiver
//! bytes   a power of two of lines, filled in circles; a payload begins with a line and never wraps
//! ```
//!
//! Positions count lines and never go back. The mailbox says that a payload is there and how long
//! it is, so the ring has no marks of its own, and one place is polled. Both ends find the
//! payload's place by the same rule ([`Ring::fit`]). Credits: the receiver says in `taken` how far
//! it is, and the sender looks there only when the ring seems full by what it saw last (`seen`).
#![allow(unsafe_code)] // bytes that are written and read in turn

use super::mailbox::Full;
use super::mapping::SharedWords;
use super::sync::{AtomicU64, Bytes, LINE, Line, Ordering};

/// What both ends of a ring remember.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Ends {
    sender: Line<Sender>,
    /// Lines taken so far, with those that were skipped.
    taken: Line<AtomicU64>,
}

#[derive(Debug, Default)]
#[repr(C)]
struct Sender {
    /// Lines written so far, with those that were skipped.
    written: AtomicU64,
    /// What this end saw in `taken`.
    seen: AtomicU64,
}

// SAFETY: repr(C), atomics only, aligned to 64.
unsafe impl SharedWords for Ends {}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Ends>() == 128);

/// A ring: both ends.
#[derive(Clone, Copy)]
pub(super) struct Ring<'a> {
    ends: &'a Ends,
    bytes: Bytes<'a>,
}

/// Room for a payload.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// Position of its first line.
    at: u64,
    len: usize,
}

impl<'a> Ring<'a> {
    #[inline]
    pub(super) fn new(ends: &'a Ends, bytes: Bytes<'a>) -> Self {
        debug_assert!(bytes.lines().is_power_of_two());
        Self { ends, bytes }
    }

    /// Room for `len` bytes, at most a part of the ring that leaves room for others. It is used by
    /// [`Ring::fill`] and given away by [`Ring::sent`].
    ///
    /// # Errors
    /// [`Full`].
    #[inline]
    pub(super) fn room(&self, len: usize) -> Result<Place, Full> {
        let Sender { written, seen } = &self.ends.sender.0;
        let at = self.fit(written.load(Ordering::Relaxed), len);
        let behind = (at + lines(len)).wrapping_sub(self.bytes.lines() as u64);
        // Positions in the first circle: the difference is below zero.
        let fits = |taken: u64| behind.wrapping_sub(taken) as i64 <= 0;
        // Relaxed: this end has seen what it notes.
        if !fits(seen.load(Ordering::Relaxed)) {
            // Acquire: the receiver's last look at these lines comes before what is written to them
            // now.
            let taken = self.ends.taken.0.load(Ordering::Acquire);
            seen.store(taken, Ordering::Relaxed);
            if !fits(taken) {
                return Err(Full);
            }
        }
        self.bytes.expect_write(self.line(at), len);
        Ok(Place { at, len })
    }

    /// Lets `fill` write the payload.
    #[inline]
    pub(super) fn fill(&self, Place { at, len }: Place, fill: impl FnOnce(&mut [u8])) {
        // SAFETY: the receiver has taken what was there, as `room` saw, and looks at these lines
        // again when the mailbox says that a payload is there; there is one sender at a time.
        unsafe { self.bytes.with_mut(self.line(at), len, fill) }
    }

    /// The mailbox has said that the payload is there.
    #[inline]
    pub(super) fn sent(&self, Place { at, len }: Place) {
        self.ends.sender.0.written.store(at + lines(len), Ordering::Relaxed);
    }

    /// Hands the next payload, of `len` bytes as the mailbox said, to `sink` and takes it out.
    ///
    /// # Panics
    /// If a ring has no such payloads.
    #[inline]
    pub(super) fn take(&self, len: usize, sink: impl FnOnce(&[u8])) {
        assert!(len <= self.bytes.lines() * LINE, "a sender spoiled the mailbox");
        let taken = &self.ends.taken.0;
        let at = self.fit(taken.load(Ordering::Relaxed), len);
        // Whose message it is will be looked up before these lines are read.
        self.bytes.expect_read(self.line(at), len);
        // SAFETY: the mailbox's word says that the sender is done with these lines, and it does not
        // touch them before `taken` passes them, below.
        unsafe { self.bytes.with(self.line(at), len, sink) };
        taken.store(at + lines(len), Ordering::Release);
    }

    /// Where a payload begins whose predecessors end at `position`: there, or at the ring's next
    /// beginning.
    #[inline(always)]
    fn fit(&self, position: u64, len: usize) -> u64 {
        let circle = self.bytes.lines() as u64;
        let left = circle - (position & (circle - 1));
        if lines(len) <= left { position } else { position + left }
    }

    #[inline(always)]
    fn line(&self, position: u64) -> usize {
        position as usize & (self.bytes.lines() - 1)
    }
}

#[inline(always)]
fn lines(len: usize) -> u64 {
    len.div_ceil(LINE) as u64
}
