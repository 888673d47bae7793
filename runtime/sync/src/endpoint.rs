//! A rank's endpoint for messages in the segment: its mailbox, and its rings to other ranks.
#![allow(unsafe_code)] // `put` and `take` have a contract

use super::full::Full;
use super::mailbox::{HEADER_WORDS, InRing, Mailbox, Payload, SHORT_MAX};
use super::pool::{Entry, Rings};
use super::sync::Bell;
use std::time::Duration;

/// A rank's endpoint for all its messages. It has no state of its own: everything lies in the
/// segment, so another process may continue with it.
#[derive(Clone, Copy)]
pub struct Endpoint<'a> {
    mailbox: Mailbox<'a>,
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

    /// Returns true if a message waits.
    #[inline]
    pub fn has_message(&self) -> bool {
        self.mailbox.has_message()
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

    /// Tells senders how much of the mailbox is free. Senders otherwise learn it once in a quarter
    /// of the slots.
    #[inline]
    pub fn publish(&self) {
        self.mailbox.publish();
    }

    /// Tells senders how many bytes of messages without a receive the rank can keep beyond its
    /// mailbox.
    #[inline]
    pub fn announce_room(&self, bytes: u64) {
        self.mailbox.announce_room(bytes);
    }

    /// Prepares to sleep: from now on senders wake the rank. Returns false, and undoes this, if a
    /// message is here or on its way.
    #[inline]
    pub fn arm(&self) -> bool {
        self.mailbox.arm()
    }

    /// The bell that wakes the rank if it sleeps in a poll of the system.
    #[inline]
    pub fn bell(&self) -> Bell<'a> {
        self.mailbox.bell()
    }

    /// Returns true if the rank is armed and nobody has woken it.
    #[inline]
    pub fn is_armed(&self) -> bool {
        self.mailbox.is_armed()
    }

    /// Undoes [`Endpoint::arm`].
    #[inline]
    pub fn disarm(&self) {
        self.mailbox.disarm();
    }

    /// Undoes [`Endpoint::arm`] and wakes everybody who sleeps here, even if [`Endpoint::disarm`]
    /// was called before.
    pub fn disarm_and_wake(&self) {
        self.mailbox.disarm_and_wake();
    }

    /// Sleeps until a sender wakes the rank, `limit` passes or a signal arrives, then disarms.
    /// Returns at once if the rank is not armed.
    #[inline]
    pub fn wait(&self, limit: Option<Duration>) {
        self.mailbox.wait(limit);
    }

    /// Sleeps like [`Endpoint::wait`] and does not disarm, because another thread may sleep here
    /// too.
    pub fn sleep_without_disarming(&self, limit: Option<Duration>) {
        self.mailbox.sleep_without_disarming(limit);
    }
}
