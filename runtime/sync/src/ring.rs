//! A ring with one sender and one receiver, for payloads that are too large for a slot of a mailbox
//! (RMA's ring of buffers; D8.1 2.4).
//!
//! ```text
//! ends    line 0 | written u64 | seen u64 | looked u64 |   sender
//!         line 1 | taken u64 |                             receiver
//! bytes   a power of two of lines, filled in circles; a payload starts at a line and never wraps
//! ```
//!
//! Positions count lines and never go back. The mailbox announces each payload, its line and its
//! length, so the ring has no marks of its own, and the receiver polls one place only. For flow
//! control, the receiver stores its position in `taken`. The sender keeps a copy of `taken` in
//! `seen`. It reads `taken` itself if the ring seems full by this copy, and once in `LOOK` lines.
//! If it finds the ring empty, the next payload begins with the first line again. So short messages
//! use the same few lines, which stay in the caches however large the ring is.
#![allow(unsafe_code)] // bytes that the two ends access in turn

use super::full::Full;
use super::shared_words::SharedWords;
use super::sync::{AtomicU64, Bytes, LINE, Line, Ordering};

/// The state of both ends of a ring.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Ends {
    sender: Line<Sender>,
    /// The number of lines taken so far, including skipped ones.
    taken: Line<AtomicU64>,
}

#[derive(Debug, Default)]
#[repr(C)]
struct Sender {
    /// The number of lines written so far, including skipped ones.
    written: AtomicU64,
    /// The sender's last copy of `taken`.
    seen: AtomicU64,
    /// The position at which the sender last looked if the ring was empty.
    looked: AtomicU64,
}

/// The number of lines after which a sender looks again if its ring is empty. They are 16 KiB.
const LOOK: u64 = if cfg!(loom) { 8 } else { 256 };

// SAFETY: repr(C), atomics only, aligned to 64.
unsafe impl SharedWords for Ends {}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Ends>() == 128);

/// A view of a ring, with the methods of both ends.
#[derive(Clone, Copy)]
pub(crate) struct Ring<'a> {
    ends: &'a Ends,
    bytes: Bytes<'a>,
}

/// The place of a payload in its ring.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RingPlace {
    /// The position of the payload's first line.
    at: u64,
    len: usize,
}

impl<'a> Ring<'a> {
    #[inline]
    pub(crate) fn new(ends: &'a Ends, bytes: Bytes<'a>) -> Self {
        debug_assert!(bytes.lines().is_power_of_two());
        Self { ends, bytes }
    }

    /// Returns a free place for `len` bytes. The sender passes the place to [`Ring::fill`],
    /// announces the payload in the mailbox and then calls [`Ring::advance`]. One payload must not
    /// take so much that no room is left for others.
    ///
    /// # Errors
    /// [`Full`].
    #[inline]
    pub(crate) fn room(&self, len: usize) -> Result<RingPlace, Full> {
        let Sender { written, seen, looked } = &self.ends.sender.0;
        // Relaxed, here and below: only the sender writes these words.
        let mut end = written.load(Ordering::Relaxed);
        if end.wrapping_sub(looked.load(Ordering::Relaxed)) >= LOOK {
            // Acquire: pairs with the Release store in `take`, as below.
            if self.ends.taken.0.load(Ordering::Acquire) == end {
                end = end.next_multiple_of(self.bytes.lines() as u64);
                written.store(end, Ordering::Relaxed);
                seen.store(end, Ordering::Relaxed);
            }
            looked.store(end, Ordering::Relaxed);
        }
        let at = self.fit(end, len);
        let behind = (at + lines(len)).wrapping_sub(self.bytes.lines() as u64);
        // In the first circle `behind` wraps below zero, so the difference is compared as signed.
        let fits = |taken: u64| behind.wrapping_sub(taken) as i64 <= 0;
        // Relaxed: only the sender writes `seen`, after the Acquire load below.
        if !fits(seen.load(Ordering::Relaxed)) {
            // Acquire: pairs with the Release store in `take`. The receiver's last read of these
            // lines happens before the sender overwrites them.
            let taken = self.ends.taken.0.load(Ordering::Acquire);
            // After the sender went back to the first line, `seen` is ahead until a payload of this
            // circle is taken.
            let seen_now = seen.load(Ordering::Relaxed);
            if taken.wrapping_sub(seen_now) as i64 > 0 {
                seen.store(taken, Ordering::Relaxed);
            }
            if !fits(taken) {
                return Err(Full);
            }
        }
        self.bytes.expect_write(self.line(at), len);
        Ok(RingPlace { at, len })
    }

    /// Lets `fill` write the payload.
    ///
    /// # Safety
    /// `place` comes from [`Ring::room`], and its payload is not announced yet. Nobody else sends
    /// through this ring meanwhile.
    #[inline]
    pub(crate) unsafe fn fill(
        &self,
        RingPlace { at, len }: RingPlace,
        fill: impl FnOnce(&mut [u8]),
    ) {
        // SAFETY: the receiver has taken what was there, as `room` saw, and reads these lines again
        // only after the mailbox announces the payload. The caller is the only sender.
        unsafe { self.bytes.with_mut(self.line(at), len, fill) }
    }

    /// Moves the sender's position behind a payload that the mailbox has announced.
    #[inline]
    pub(crate) fn advance(&self, RingPlace { at, len }: RingPlace) {
        self.ends.sender.0.written.store(at + lines(len), Ordering::Relaxed);
    }

    /// Returns the line at which the payload at `place` begins.
    #[inline(always)]
    pub(crate) fn line_of(&self, place: RingPlace) -> u32 {
        self.line(place.at) as u32
    }

    /// Passes the next payload, which begins with `line`, to `sink` and removes it.
    ///
    /// # Safety
    /// The mailbox has announced this payload with this line and `len` bytes, and the caller has
    /// read its word with Acquire. Nobody else takes from this ring meanwhile.
    ///
    /// # Panics
    /// If `len` is larger than the ring.
    #[inline]
    pub(crate) unsafe fn take(&self, line: u32, len: usize, sink: impl FnOnce(&[u8])) {
        assert!(len <= self.bytes.lines() * LINE, "a sender spoiled the mailbox");
        let taken = &self.ends.taken.0;
        let before = taken.load(Ordering::Relaxed);
        // The sender may have left out lines, but never a whole circle.
        let at = before + (u64::from(line).wrapping_sub(before) & (self.bytes.lines() as u64 - 1));
        // The receiver first looks for the matching receive. The prefetch runs meanwhile.
        self.bytes.expect_read(self.line(at), len);
        // SAFETY: the mailbox's word says that the sender has written these lines. The sender
        // overwrites them only after `taken` passes them, below.
        unsafe { self.bytes.with(self.line(at), len, sink) };
        // Release: pairs with the Acquire load in `room`.
        taken.store(at + lines(len), Ordering::Release);
    }

    /// Returns the position for a payload whose predecessors end at `position`. This is `position`
    /// if the payload fits before the end of the circle, otherwise the start of the next circle.
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
