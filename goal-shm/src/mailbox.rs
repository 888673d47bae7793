//! A rank's mailbox: where every message to it arrives, from whichever sender (VELO's one receive
//! queue; D8.1 2.5).
//!
//! One mailbox a receiver, shared by all its senders, so that it looks at one place only. It is an
//! array of slots of two cache lines, a message each:
//!
//! ```text
//! slot     line 0 | word u64 | header 48 bytes | payload 8 bytes |
//!          line 1 | payload 56 bytes               | 8 bytes free |
//!
//! word     bits 16.. the number of the message, from 1 on
//!          bits 0..16 the bytes of its payload, or IN_RING: it lies in a ring; the slot says where
//!
//! control  line 0 | tail u64, its highest bit SLEEPS | seen u64 |   senders
//!          line 1 | published u64 | room u64 |                      receiver, for senders
//!          line 2 | head u64 |                                      receiver
//!          line 3 | sleeper u32 |                                   a futex
//! ```
//!
//! A sender draws the number of its message by advancing `tail`, writes header and payload in place
//! and stores the word. The number tells the lap, so the receiver writes to no slot: it looks at
//! the word of the slot at `head`, and a message of at most 8 bytes costs one line to hand over. It
//! tells senders its `head` in `published` once in a quarter of the slots; senders look at that
//! line only if the box seems full by what one of them saw there last (`seen`). Messages of one
//! sender stay in order.
//!
//! A receiver that wants to sleep sets SLEEPS in `tail`. All changes of one word have one order:
//! either the sender drew its number before, then the receiver sees that a message is coming, or
//! the sender sees the bit, takes it away and wakes the receiver once its message is there. So
//! neither needs a fence, and only who saw the bit makes a system call.
//!
//! Everything that the two ends remember lies here, nothing in the process: whoever acts for a
//! rank, one at a time, can take or put its messages.
#![allow(unsafe_code)] // slots are written and read in turn

use super::bell::Bell;
use super::mapping::SharedWords;
use super::sync::{AtomicU64, Futex, Line, Ordering, Shared};
use std::time::Duration;

/// Words of a message's header, whose meaning is the transport's.
pub const HEADER_WORDS: usize = 6;

/// Most bytes of payload in a slot.
pub const SHORT_MAX: usize = 64;

/// In the word: the payload lies in a ring.
const IN_RING: u64 = 0xffff;
/// Bits of the word below the message's number.
const NUMBER_SHIFT: u32 = 16;
/// In `tail`: the receiver sleeps, or is about to.
const SLEEPS: u64 = 1 << 63;

/// There is no room for the message now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

/// Control words of a mailbox.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Control {
    senders: Line<Senders>,
    published: Line<Published>,
    /// Messages taken so far.
    head: Line<AtomicU64>,
    /// 1 while the receiver sleeps or is about to.
    sleeper: Line<Futex>,
}

#[derive(Debug, Default)]
#[repr(C)]
struct Senders {
    /// Numbers drawn so far, and [`SLEEPS`].
    tail: AtomicU64,
    /// What a sender saw in `published`.
    seen: AtomicU64,
}

#[derive(Debug, Default)]
#[repr(C)]
struct Published {
    /// A `head` of a while ago.
    head: AtomicU64,
    /// Bytes of messages without a receive that there is room for beyond the box.
    room: AtomicU64,
}

/// A message's place.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub(super) struct Slot {
    word: AtomicU64,
    body: Shared<Body>,
}

#[derive(Debug)]
#[repr(C)]
struct Body {
    header: [u64; HEADER_WORDS],
    payload: [u8; SHORT_MAX],
}

impl Default for Body {
    fn default() -> Self {
        Self { header: [0; HEADER_WORDS], payload: [0; SHORT_MAX] }
    }
}

/// Bytes of a payload in a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InRing {
    /// Number of the ring.
    pub(super) ring: u32,
    /// Bytes.
    pub(super) len: u32,
}

/// Where a message's payload is.
pub(super) enum Payload<'a> {
    Here(&'a [u8]),
    InRing(InRing),
}

/// A mailbox: both ends, and what an observer may see.
#[derive(Clone, Copy)]
pub struct Mailbox<'a> {
    control: &'a Control,
    /// A power of two of them.
    slots: &'a [Slot],
    /// The bell that rings in addition where the receiver may sleep in a poll of the system.
    bell: Bell<'a>,
}

impl<'a> Mailbox<'a> {
    #[inline]
    pub(super) fn new(control: &'a Control, slots: &'a [Slot], bell: Bell<'a>) -> Self {
        debug_assert!(slots.len().is_power_of_two());
        Self { control, slots, bell }
    }

    /// Messages sent and taken so far.
    pub fn positions(&self) -> (u64, u64) {
        let tail = self.control.senders.0.tail.load(Ordering::SeqCst) & !SLEEPS;
        (tail, self.control.head.0.load(Ordering::SeqCst))
    }

    /// Puts a message of `len` payload bytes, at most [`SHORT_MAX`], which `fill` writes in place;
    /// wakes the receiver if it sleeps.
    ///
    /// # Errors
    /// [`Full`]; nothing was done.
    #[inline(always)]
    pub(super) fn put(
        &self,
        header: &[u64; HEADER_WORDS],
        len: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Full> {
        assert!(len <= SHORT_MAX);
        self.put_marked(header, len as u64, |payload| fill(&mut payload[..len]))
    }

    /// Puts a message whose payload `fill` writes into a ring, before anybody sees it.
    ///
    /// # Errors
    /// [`Full`]; nothing was done.
    #[inline]
    pub(super) fn put_in_ring(
        &self,
        header: &[u64; HEADER_WORDS],
        InRing { ring, len }: InRing,
        fill: impl FnOnce(),
    ) -> Result<(), Full> {
        self.put_marked(header, IN_RING, |payload| {
            payload[..4].copy_from_slice(&ring.to_ne_bytes());
            payload[4..8].copy_from_slice(&len.to_ne_bytes());
            fill();
        })
    }

    #[inline(always)]
    fn put_marked(
        &self,
        header: &[u64; HEADER_WORDS],
        mark: u64,
        fill: impl FnOnce(&mut [u8; SHORT_MAX]),
    ) -> Result<(), Full> {
        let (number, sleeps) = self.draw()?;
        let slot = self.slot(number);
        let write = |body: &mut Body| {
            body.header = *header;
            fill(&mut body.payload);
        };
        // SAFETY: nobody else drew this number; whoever had the slot a lap ago has published its
        // message and the receiver has taken it, as `draw` saw; the receiver looks at the slot
        // again when the word is stored.
        unsafe { slot.body.with_mut(write) };
        slot.word.store(word(number, mark), Ordering::Release);
        if sleeps {
            self.wake();
        }
        Ok(())
    }

    /// Draws a number, for which there is a slot. Whether the receiver must be woken afterwards.
    #[inline(always)]
    fn draw(&self) -> Result<(u64, bool), Full> {
        let Senders { tail, seen } = &self.control.senders.0;
        let mut now = tail.load(Ordering::Relaxed);
        loop {
            let number = now & !SLEEPS;
            // A number that is not the latest any more may be below what was seen since.
            // Acquire: the receiver's last look at the slot comes before what is written to it now.
            if number.saturating_sub(seen.load(Ordering::Acquire)) >= self.slots.len() as u64 {
                let head = self.control.published.0.head.load(Ordering::Acquire);
                // Release: who relies on it has to have seen what this sender has.
                seen.store(head, Ordering::Release);
                if number.saturating_sub(head) >= self.slots.len() as u64 {
                    return Err(Full);
                }
            }
            // Acquire: a sleeper is woken by a change of `sleeper` that comes after its own.
            match tail.compare_exchange_weak(now, number + 1, Ordering::Acquire, Ordering::Relaxed)
            {
                Ok(_) => return Ok((number, now != number)),
                Err(changed) => now = changed,
            }
        }
    }

    /// The room beyond the box that the receiver announced last; 0 before it announced any.
    #[inline]
    pub fn room(&self) -> u64 {
        self.control.published.0.room.load(Ordering::Relaxed)
    }

    /// Wakes the receiver if it sleeps. Whether it did.
    #[cold]
    pub fn wake(&self) -> bool {
        let futex = &self.control.sleeper.0;
        let sleeps = futex.swap(0, Ordering::SeqCst) != 0;
        if sleeps {
            futex.wake();
            self.bell.ring();
        }
        sleeps
    }

    /// What rings in addition where the receiver may sleep in a poll of the system.
    pub fn bell(&self) -> Bell<'a> {
        self.bell
    }

    /// Whether the receiver sleeps, or is about to, and nobody has woken it.
    pub fn is_armed(&self) -> bool {
        self.control.sleeper.0.load(Ordering::SeqCst) == 1
    }

    /// Whether a message waits.
    #[inline]
    pub(super) fn has_message(&self) -> bool {
        let head = self.control.head.0.load(Ordering::Relaxed);
        self.slot(head).word.load(Ordering::Relaxed) >> NUMBER_SHIFT
            == word(head, 0) >> NUMBER_SHIFT
    }

    /// Hands the first message to `sink` and takes it out; false if there was none. There must be
    /// one receiver at a time.
    #[inline(always)]
    pub(super) fn take(&self, sink: impl FnOnce(&[u64; HEADER_WORDS], Payload<'_>)) -> bool {
        let head = self.control.head.0.load(Ordering::Relaxed);
        let slot = self.slot(head);
        let mark = slot.word.load(Ordering::Acquire) ^ word(head, 0);
        if mark >> NUMBER_SHIFT != 0 {
            return false;
        }
        let read = |body: &Body| {
            let payload = if mark == IN_RING {
                let [a, b, c, d, e, f, g, h, ..] = body.payload;
                let (ring, len) =
                    (u32::from_ne_bytes([a, b, c, d]), u32::from_ne_bytes([e, f, g, h]));
                Payload::InRing(InRing { ring, len })
            } else {
                assert!(mark <= SHORT_MAX as u64, "a sender spoiled the mailbox");
                Payload::Here(&body.payload[..mark as usize])
            };
            sink(&body.header, payload);
        };
        // SAFETY: the word says that the sender is done with the slot, and nobody has it for the
        // next lap before `published` passes it, below.
        unsafe { slot.body.with(read) };
        let head = head + 1;
        self.control.head.0.store(head, Ordering::Release);
        if head & (self.slots.len() as u64 / 4).saturating_sub(1) == 0 {
            self.control.published.0.head.store(head, Ordering::Release);
        }
        true
    }

    /// Tells the senders of all room that there is.
    pub(super) fn publish(&self) {
        let head = self.control.head.0.load(Ordering::Relaxed);
        let published = &self.control.published.0.head;
        if published.load(Ordering::Relaxed) != head {
            published.store(head, Ordering::Release);
        }
    }

    /// Tells the senders of the room beyond the box, in bytes.
    pub(super) fn announce_room(&self, bytes: u64) {
        self.control.published.0.room.store(bytes, Ordering::Relaxed);
    }

    /// Prepares to sleep: senders ring from now on. False, and they don't, if there is a message,
    /// or will be.
    pub(super) fn arm(&self) -> bool {
        self.publish();
        self.control.sleeper.0.store(1, Ordering::Relaxed);
        let head = self.control.head.0.load(Ordering::Relaxed);
        // Release: see `draw`.
        let tail = self.control.senders.0.tail.fetch_or(SLEEPS, Ordering::AcqRel);
        let is_empty = tail & !SLEEPS == head;
        if !is_empty {
            self.disarm();
        }
        is_empty
    }

    /// Sleeps, once armed, until a sender rings, `limit` passes or a signal arrives.
    pub(super) fn wait(&self, limit: Option<Duration>) {
        self.sleep_without_disarming(limit);
        self.disarm();
    }

    /// Sleeps as `wait` does, and leaves the bell as it is.
    pub(super) fn sleep_without_disarming(&self, limit: Option<Duration>) {
        self.control.sleeper.0.wait(1, limit);
    }

    /// Switches the bell off, and wakes whoever sleeps although it was off.
    pub(super) fn disarm_and_wake(&self) {
        self.disarm();
        let futex = &self.control.sleeper.0;
        futex.wake();
        self.bell.ring();
    }

    /// Switches the bell off.
    pub(super) fn disarm(&self) {
        let tail = &self.control.senders.0.tail;
        self.control.sleeper.0.store(0, Ordering::Relaxed);
        if tail.load(Ordering::Relaxed) & SLEEPS != 0 {
            tail.fetch_and(!SLEEPS, Ordering::Relaxed);
        }
    }

    #[inline(always)]
    fn slot(&self, number: u64) -> &'a Slot {
        &self.slots[number as usize & (self.slots.len() - 1)]
    }
}

/// The word of a message that has come.
#[inline(always)]
fn word(number: u64, mark: u64) -> u64 {
    ((number + 1) << NUMBER_SHIFT) | mark
}

// SAFETY: repr(C), atomics only, aligned to 64.
unsafe impl SharedWords for Control {}
// SAFETY: repr(C), an atomic and bytes that are reached in turn only, aligned to 128.
unsafe impl SharedWords for Slot {}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Control>() == 256 && size_of::<Slot>() == 128);
