//! The endpoint of a rank for messages in the segment: its mailbox, and its rings to other ranks.
#![allow(unsafe_code)] // `put` and `take` have a contract

use super::full::Full;
use super::mailbox::{HEADER_WORDS, InRing, Mailbox, Payload, SHORT_MAX};
use super::pool::{Entry, Rings};

/// A view of all that a rank needs to send and take messages. All state lies in the segment, so
/// another process may continue with it.
#[derive(Clone, Copy)]
pub struct Endpoint<'a> {
    /// The mailbox in which the rank's messages arrive.
    pub mailbox: Mailbox<'a>,
    rings: Rings<'a>,
    /// The numbers of the rank's rings, by destination rank.
    table: &'a [Entry],
}

impl<'a> Endpoint<'a> {
    /// Creates the endpoint of the rank that takes the messages of `mailbox`. `table` has an entry
    /// for each rank.
    #[inline]
    pub fn new(mailbox: Mailbox<'a>, rings: Rings<'a>, table: &'a [Entry]) -> Self {
        Self { mailbox, rings, table }
    }

    /// Returns the most bytes of payload in one message to rank `to`. The first call for a rank
    /// allots a ring. The result is above [`SHORT_MAX`] if there was one.
    #[inline]
    pub fn payload_max(&self, to: u32) -> usize {
        self.rings.payload_max(&self.table[to as usize])
    }

    /// Returns the size in bytes of the ring to rank `to`, which the first call for a rank allots.
    /// Returns 0 if the pool of rings was used up.
    #[inline]
    pub fn ring_bytes(&self, to: u32) -> usize {
        self.rings.ring_bytes(&self.table[to as usize])
    }

    /// Puts a message into the mailbox `into` of rank `to`, and wakes that rank if it sleeps.
    /// `fill` writes the `len` bytes of payload in place.
    ///
    /// # Safety
    /// Nobody else puts messages of this rank meanwhile, in any process, and `into` is the mailbox
    /// of `to` in the same segment.
    ///
    /// # Errors
    /// [`Full`], with no effect.
    ///
    /// # Panics
    /// If `len` is above [`Endpoint::payload_max`].
    #[inline(always)]
    pub unsafe fn put(
        &self,
        (to, into): (u32, Mailbox<'_>),
        header: &[u64; HEADER_WORDS],
        len: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Full> {
        if len <= SHORT_MAX {
            return into.put(header, len, fill);
        }
        let entry = &self.table[to as usize];
        assert!(len <= self.rings.payload_max(entry));
        let number = self.rings.number(entry).expect("a payload above SHORT_MAX is allowed");
        let ring = self.rings.ring(number);
        let place = ring.room(len)?;
        let announced = InRing { ring: number, line: ring.line_of(place), len: len as u32 };
        into.put_in_ring(header, announced, || {
            // SAFETY: the ring belongs to this pair, and the caller is its only sender. The message
            // is announced after this closure returns.
            unsafe { ring.fill(place, fill) }
        })?;
        ring.advance(place);
        Ok(())
    }

    /// Passes the first message to `sink` and removes it. Returns false if there is none.
    ///
    /// # Safety
    /// Nobody else takes messages of this rank meanwhile, in any process.
    #[inline]
    pub unsafe fn take(&self, sink: impl FnOnce(&[u64; HEADER_WORDS], &[u8])) -> bool {
        let deliver = |header: &_, payload: Payload<'_>| match payload {
            Payload::Here(bytes) => sink(header, bytes),
            Payload::InRing(InRing { ring, line, len }) => {
                let ring = self.rings.ring(ring);
                // SAFETY: the mailbox has just announced the payload, and the caller is the only
                // receiver of the pair.
                unsafe { ring.take(line, len as usize, |bytes| sink(header, bytes)) }
            }
        };
        // SAFETY: the caller's promise.
        unsafe { self.mailbox.take(deliver) }
    }
}
