//! A rank's end of all its messages: its mailbox, and its rings to others.
#![allow(unsafe_code)] // `put` and `take` have a contract

use super::bell::Bell;
use super::mailbox::{Full, HEADER_WORDS, InRing, Mailbox, Payload, SHORT_MAX};
use super::pool::{Entry, Rings};
use std::time::Duration;

/// What a rank sends and receives with. It remembers nothing by itself: all is in the segment.
#[derive(Clone, Copy)]
pub struct Endpoint<'a> {
    mailbox: Mailbox<'a>,
    rings: Rings<'a>,
    /// The rank's rings, by destination.
    table: &'a [Entry],
}

impl<'a> Endpoint<'a> {
    pub(super) fn new(mailbox: Mailbox<'a>, rings: Rings<'a>, table: &'a [Entry]) -> Self {
        Self { mailbox, rings, table }
    }

    /// Most bytes of payload in one message to rank `to`. Above [`SHORT_MAX`] if there is a ring
    /// for the pair, which this allots.
    #[inline]
    pub fn payload_max(&self, to: u32) -> usize {
        self.rings.payload_max(&self.table[to as usize])
    }

    /// Puts a message of `len` payload bytes, which `fill` writes in place, into the mailbox `into`
    /// of rank `to`; wakes it if it sleeps.
    ///
    /// # Safety
    /// Nobody else puts messages of this rank meanwhile.
    ///
    /// # Errors
    /// [`Full`]; nothing was done.
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
        into.put_in_ring(header, InRing { ring: number, len: len as u32 }, || {
            ring.fill(place, fill)
        })?;
        ring.sent(place);
        Ok(())
    }

    /// Whether a message waits.
    #[inline]
    pub fn has_message(&self) -> bool {
        self.mailbox.has_message()
    }

    /// Hands the first message to `sink` and takes it out. Returns false if there was none.
    ///
    /// # Safety
    /// Nobody else takes messages of this rank meanwhile.
    #[inline]
    pub unsafe fn take(&self, sink: impl FnOnce(&[u64; HEADER_WORDS], &[u8])) -> bool {
        self.mailbox.take(|header, payload| match payload {
            Payload::Here(bytes) => sink(header, bytes),
            Payload::InRing(InRing { ring, len }) => {
                self.rings.ring(ring).take(len as usize, |bytes| sink(header, bytes));
            }
        })
    }

    /// Tells senders of all room that there is.
    pub fn publish(&self) {
        self.mailbox.publish();
    }

    /// Tells senders of the room beyond the mailbox, in bytes.
    pub fn announce_room(&self, bytes: u64) {
        self.mailbox.announce_room(bytes);
    }

    /// Prepares to sleep: senders ring from now on. False, and they don't, if there is a message,
    /// or will be.
    pub fn arm(&self) -> bool {
        self.mailbox.arm()
    }

    /// What rings in addition where the rank may sleep in a poll of the system.
    pub fn bell(&self) -> Bell<'a> {
        self.mailbox.bell()
    }

    /// Whether the bell is on, and nobody has rung.
    pub fn is_armed(&self) -> bool {
        self.mailbox.is_armed()
    }

    /// Wakes whoever sleeps here, though [`Endpoint::disarm`] was called since.
    pub fn disarm_and_wake(&self) {
        self.mailbox.disarm_and_wake();
    }

    /// Switches the bell off that [`Endpoint::arm`] switched on, for somebody else who sleeps or
    /// not.
    pub fn disarm(&self) {
        self.mailbox.disarm();
    }

    /// Sleeps, once armed, until a sender rings, `limit` passes or a signal comes.
    pub fn wait(&self, limit: Option<Duration>) {
        self.mailbox.wait(limit);
    }

    /// Sleeps as [`Endpoint::wait`] does, and leaves the bell as it is.
    pub fn sleep_without_disarming(&self, limit: Option<Duration>) {
        self.mailbox.sleep_without_disarming(limit);
    }
}
