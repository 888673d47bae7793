//! A rank's endpoint for messages in the segment joins its mailbox and its rings to other ranks.
#![allow(unsafe_code)] // `put` and `take` have a contract

use super::full::Full;
use super::mailbox::{HEADER_WORDS, InRing, Mailbox, Payload, SHORT_MAX};
use super::pool::{Entry, Rings};

/// A rank's endpoint for all its messages. It has no state of its own: everything lies in the
/// segment, so another process may continue with it.
#[derive(Clone, Copy)]
pub struct Endpoint<'a> {
    /// The mailbox in which the rank's messages arrive.
    pub mailbox: Mailbox<'a>,
    rings: Rings<'a>,
    /// The rank's rings, by destination.
    table: &'a [Entry],
}

impl<'a> Endpoint<'a> {
    /// The endpoint of the rank that takes the messages of `mailbox`. `table` has an entry for each
    /// rank.
    #[inline]
    pub fn new(mailbox: Mailbox<'a>, rings: Rings<'a>, table: &'a [Entry]) -> Self {
        Self { mailbox, rings, table }
    }

    /// The most bytes of payload in one message to rank `to`. Above [`SHORT_MAX`] if the pair has a
    /// ring, which the first call allots.
    #[inline]
    pub fn payload_max(&self, to: u32) -> usize {
        self.rings.payload_max(&self.table[to as usize])
    }

    /// The bytes of the ring to rank `to`, which the first call allots; 0 if the pair has none.
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
