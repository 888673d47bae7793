//! A rank's mailbox, at which every message to the rank arrives, from all senders (VELO's one
//! receive queue; D8.1 2.5).
//!
//! All senders share the mailbox, so its receiver polls one place only. It is an array of slots of
//! two cache lines; each slot holds one message:
//!
//! ```text
//! slot     line 0 | word u64 | header 48 bytes | payload 8 bytes |
//!          line 1 | payload 56 bytes               | 8 bytes free |
//!
//! word     bits 16.. the number of the message plus 1
//!          bits 0..16 the length of the payload, or IN_RING: the slot names its place in a ring
//!
//! control  line 0 | tail u64, its highest bit SLEEPS | seen u64 |   senders
//!          line 1 | published u64 | room u64 |                      receiver, for senders
//!          line 2 | head u64 |                                      receiver
//!          line 3 | sleeper u32 |                                   a futex
//! ```
//!
//! **Sending.** A sender draws a number by advancing `tail`, writes header and payload in place and
//! stores the word. The messages of one sender stay in order.
//!
//! **Receiving.** The receiver looks at the word of the slot at `head`. The number in the word
//! tells the lap, so the receiver never writes to a slot, and a message of at most 8 bytes moves
//! one cache line.
//!
//! **Room.** The receiver copies `head` to `published` each time that it has taken a quarter of the
//! slots. Senders keep a copy of `published` in `seen`. They read `published` itself only if the
//! mailbox seems full by this copy.
//!
//! **Sleeping.** A receiver that wants to sleep sets SLEEPS in `tail`, the word in which senders
//! draw their numbers. All changes of one word have one order. If a sender draws its number before
//! SLEEPS is set, the receiver sees in `tail` that a message is coming. If it draws afterwards, it
//! sees SLEEPS, clears it, and wakes the receiver once the message is complete. So neither side
//! needs a fence, and only a sender that saw SLEEPS makes a system call.
//!
//! All state of both ends lies in these words and none in a process. So a process that acts for a
//! rank can send the rank's messages and take them.
#![allow(unsafe_code)] // slots that senders and the receiver access in turn

use super::full::Full;
use super::shared_words::SharedWords;
use super::sync::{AtomicU64, Bell, Futex, Line, Ordering, SharedCell};
use std::time::Duration;

/// The number of words of a message's header. The transport defines their meaning.
pub const HEADER_WORDS: usize = 6;

/// The most bytes of payload in a slot.
pub const SHORT_MAX: usize = 64;

/// The length field in the word of a slot whose payload lies in a ring.
const IN_RING: u64 = 0xffff;
/// The lowest bit of the message's number in the word of a slot.
const NUMBER_SHIFT: u32 = 16;
/// Bit of `tail`, set while the receiver sleeps or is about to.
const SLEEPS: u64 = 1 << 63;

/// The control words of a mailbox.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Control {
    senders: Line<Senders>,
    published: Line<Published>,
    /// The number of messages taken so far.
    head: Line<AtomicU64>,
    /// 1 while the receiver sleeps or is about to, otherwise 0. The receiver waits on this futex.
    sleeper: Line<Futex>,
}

#[derive(Debug, Default)]
#[repr(C)]
struct Senders {
    /// The number of message numbers that senders have drawn so far, and the bit [`SLEEPS`].
    tail: AtomicU64,
    /// A sender's copy of `published`.
    seen: AtomicU64,
}

#[derive(Debug, Default)]
#[repr(C)]
struct Published {
    /// The receiver's copy of `head`, which may be old.
    head: AtomicU64,
    /// The bytes of unexpected messages that the receiver can keep beyond the mailbox.
    room: AtomicU64,
}

/// The place of a message.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct Slot {
    word: AtomicU64,
    body: SharedCell<Body>,
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

/// A payload that lies in a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InRing {
    /// The number of the ring.
    pub(crate) ring: u32,
    /// The first line of the payload in the ring.
    pub(crate) line: u32,
    /// The number of bytes of the payload.
    pub(crate) len: u32,
}

impl InRing {
    /// The widths in bits of `line` and of `len` in the packed word.
    const LINE_BITS: u32 = 16;
    const LEN_BITS: u32 = 20;

    /// Packs ring, line and length into one word. It lies in the first cache line of a slot, in
    /// place of a payload.
    #[inline(always)]
    fn to_word(self) -> u64 {
        let Self { ring, line, len } = self;
        debug_assert!(line < 1 << Self::LINE_BITS && len < 1 << Self::LEN_BITS);
        (u64::from(ring) << Self::LINE_BITS | u64::from(line)) << Self::LEN_BITS | u64::from(len)
    }

    #[inline(always)]
    fn from_word(word: u64) -> Self {
        let low = |word: u64, bits: u32| (word & ((1 << bits) - 1)) as u32;
        let rest = word >> Self::LEN_BITS;
        Self {
            ring: (rest >> Self::LINE_BITS) as u32,
            line: low(rest, Self::LINE_BITS),
            len: low(word, Self::LEN_BITS),
        }
    }
}

/// The payload of a message.
pub(crate) enum Payload<'a> {
    Here(&'a [u8]),
    InRing(InRing),
}

/// A view of a mailbox. It has the methods of senders, of the receiver and of observers.
#[derive(Clone, Copy)]
pub struct Mailbox<'a> {
    control: &'a Control,
    /// The slots. Their number is a power of two.
    slots: &'a [Slot],
    /// The bell that wakes the receiver if it sleeps in `poll(2)`.
    bell: Bell<'a>,
}

impl<'a> Mailbox<'a> {
    /// Creates a view over these words. The number of slots must be a power of two.
    #[inline]
    pub fn new(control: &'a Control, slots: &'a [Slot], bell: Bell<'a>) -> Self {
        debug_assert!(slots.len().is_power_of_two());
        Self { control, slots, bell }
    }

    /// Returns the number of messages that senders have numbered so far, and the number that the
    /// receiver has taken.
    pub fn positions(&self) -> (u64, u64) {
        let tail = self.control.senders.0.tail.load(Ordering::SeqCst) & !SLEEPS;
        (tail, self.control.head.0.load(Ordering::SeqCst))
    }

    /// Puts a message and wakes the receiver if it sleeps. `fill` writes the `len` bytes of
    /// payload, at most [`SHORT_MAX`], in place.
    ///
    /// # Errors
    /// [`Full`], with no effect.
    #[inline(always)]
    pub(crate) fn put(
        &self,
        header: &[u64; HEADER_WORDS],
        len: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Full> {
        assert!(len <= SHORT_MAX);
        self.put_marked(header, len as u64, |payload| fill(&mut payload[..len]))
    }

    /// Puts a message whose payload lies in a ring. `fill` writes the payload there; the message is
    /// announced afterwards.
    ///
    /// # Errors
    /// [`Full`], with no effect.
    #[inline]
    pub(crate) fn put_in_ring(
        &self,
        header: &[u64; HEADER_WORDS],
        place: InRing,
        fill: impl FnOnce(),
    ) -> Result<(), Full> {
        self.put_marked(header, IN_RING, |payload| {
            payload[..8].copy_from_slice(&place.to_word().to_ne_bytes());
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
        // SAFETY: nobody else has drawn this number. `draw` saw that the receiver has taken the
        // message that was in the slot a lap ago. The receiver reads the slot again only after the
        // word is stored.
        unsafe { slot.body.with_mut(write) };
        // Release: pairs with the Acquire load of the word in `take`. The receiver sees the whole
        // message.
        slot.word.store(word(number, mark), Ordering::Release);
        if sleeps {
            self.wake();
        }
        Ok(())
    }

    /// Draws the number of the next message, if its slot is free. Returns the number, and true if
    /// the caller must wake the receiver once the message is complete.
    #[inline(always)]
    fn draw(&self) -> Result<(u64, bool), Full> {
        let Senders { tail, seen } = &self.control.senders.0;
        let mut now = tail.load(Ordering::Relaxed);
        loop {
            let number = now & !SLEEPS;
            // Subtraction saturates: if other senders have drawn numbers since `now` was read,
            // `number` may be below `seen`.
            // Acquire: pairs with the Release store of `seen` below, and through it with the
            // receiver's store of `published`. The receiver's last read of the slot happens before
            // this sender writes to it.
            if number.saturating_sub(seen.load(Ordering::Acquire)) >= self.slots.len() as u64 {
                // Acquire: pairs with the Release stores in `take` and `publish`.
                let head = self.control.published.0.head.load(Ordering::Acquire);
                // Release: a sender that reads this copy has to see what this sender has seen.
                seen.store(head, Ordering::Release);
                if number.saturating_sub(head) >= self.slots.len() as u64 {
                    return Err(Full);
                }
            }
            // Acquire: pairs with the Release part of `fetch_or` in `arm`. A sender that sees
            // SLEEPS also sees 1 in `sleeper`, so its `wake` does not miss the receiver.
            match tail.compare_exchange_weak(now, number + 1, Ordering::Acquire, Ordering::Relaxed)
            {
                Ok(_) => return Ok((number, now != number)),
                Err(changed) => now = changed,
            }
        }
    }

    /// Returns the bytes of unexpected messages that the receiver can keep beyond the mailbox, as
    /// it announced last. Returns 0 before its first announcement.
    #[inline]
    pub fn room(&self) -> u64 {
        self.control.published.0.room.load(Ordering::Relaxed)
    }

    /// Wakes the receiver if it is armed. Returns false if it is not.
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

    /// Returns the bell that wakes the receiver if it sleeps in `poll(2)`.
    #[inline]
    pub fn bell(&self) -> Bell<'a> {
        self.bell
    }

    /// Returns true if the receiver sleeps or is about to, and nobody has woken it.
    #[inline]
    pub fn is_armed(&self) -> bool {
        self.control.sleeper.0.load(Ordering::SeqCst) == 1
    }

    /// Returns true if a message waits.
    #[inline]
    pub fn has_message(&self) -> bool {
        let head = self.control.head.0.load(Ordering::Relaxed);
        self.slot(head).word.load(Ordering::Relaxed) >> NUMBER_SHIFT
            == word(head, 0) >> NUMBER_SHIFT
    }

    /// Passes the first message to `sink` and removes it. Returns false if there is none.
    ///
    /// # Safety
    /// Nobody else takes messages out of this mailbox meanwhile, in any process.
    #[inline(always)]
    pub(crate) unsafe fn take(&self, sink: impl FnOnce(&[u64; HEADER_WORDS], Payload<'_>)) -> bool {
        let head = self.control.head.0.load(Ordering::Relaxed);
        let slot = self.slot(head);
        // Acquire: pairs with the Release store in `put_marked`.
        let mark = slot.word.load(Ordering::Acquire) ^ word(head, 0);
        if mark >> NUMBER_SHIFT != 0 {
            return false;
        }
        let read = |body: &Body| {
            let payload = if mark == IN_RING {
                let [a, b, c, d, e, f, g, h, ..] = body.payload;
                let word = u64::from_ne_bytes([a, b, c, d, e, f, g, h]);
                Payload::InRing(InRing::from_word(word))
            } else {
                assert!(mark <= SHORT_MAX as u64, "a sender spoiled the mailbox");
                Payload::Here(&body.payload[..mark as usize])
            };
            sink(&body.header, payload);
        };
        // SAFETY: the word says that the sender has finished writing. No sender gets the slot for
        // the next lap before `published` passes it, below. The caller is the only receiver.
        unsafe { slot.body.with(read) };
        let head = head + 1;
        self.control.head.0.store(head, Ordering::Release);
        if head & (self.slots.len() as u64 / 4).saturating_sub(1) == 0 {
            // Release: pairs with the Acquire load in `draw`. This read of the slots happens before
            // a sender overwrites them.
            self.control.published.0.head.store(head, Ordering::Release);
        }
        true
    }

    /// Publishes `head`, so that senders see every free slot. Without this call they see free slots
    /// only after the receiver has taken a quarter of the mailbox.
    #[inline]
    pub fn publish(&self) {
        // Acquire: pairs with the Release store of `head` in `take`, if that ran in another thread.
        // The read of the slots there happens before a sender that sees the store below overwrites
        // them.
        let head = self.control.head.0.load(Ordering::Acquire);
        let published = &self.control.published.0.head;
        if published.load(Ordering::Relaxed) != head {
            published.store(head, Ordering::Release);
        }
    }

    /// Tells senders how many bytes of messages without a receive the receiver can keep beyond the
    /// mailbox.
    #[inline]
    pub fn announce_room(&self, bytes: u64) {
        self.control.published.0.room.store(bytes, Ordering::Relaxed);
    }

    /// Prepares to sleep: from now on senders wake the receiver. Returns false, and undoes this, if
    /// a message is here or on its way.
    #[inline]
    pub fn arm(&self) -> bool {
        self.publish();
        self.control.sleeper.0.set(1);
        let head = self.control.head.0.load(Ordering::Relaxed);
        // Release: pairs with the compare-exchange in `draw`, so that a sender that sees SLEEPS
        // sees 1 in `sleeper`. This change of `tail` and a sender's have an order. If the sender's
        // comes first, `tail` differs from `head` here. Otherwise the sender sees SLEEPS.
        let tail = self.control.senders.0.tail.fetch_or(SLEEPS, Ordering::AcqRel);
        let is_empty = tail & !SLEEPS == head;
        if !is_empty {
            self.disarm();
        }
        is_empty
    }

    /// Sleeps until a sender wakes the receiver, `limit` passes or a signal arrives, then disarms.
    /// Returns at once if the receiver is not armed.
    #[inline]
    pub fn wait(&self, limit: Option<Duration>) {
        self.sleep_without_disarming(limit);
        self.disarm();
    }

    /// Sleeps like [`Mailbox::wait`] and does not disarm, because another thread may sleep here
    /// too.
    pub fn sleep_without_disarming(&self, limit: Option<Duration>) {
        self.control.sleeper.0.wait(1, limit);
    }

    /// Undoes [`Mailbox::arm`] and wakes everybody who sleeps here, even if [`Mailbox::disarm`] was
    /// called before.
    pub fn disarm_and_wake(&self) {
        self.disarm();
        let futex = &self.control.sleeper.0;
        futex.wake();
        self.bell.ring();
    }

    /// Undoes [`Mailbox::arm`].
    #[inline]
    pub fn disarm(&self) {
        let tail = &self.control.senders.0.tail;
        self.control.sleeper.0.set(0);
        if tail.load(Ordering::Relaxed) & SLEEPS != 0 {
            tail.fetch_and(!SLEEPS, Ordering::Relaxed);
        }
    }

    #[inline(always)]
    fn slot(&self, number: u64) -> &'a Slot {
        &self.slots[number as usize & (self.slots.len() - 1)]
    }
}

/// Returns the word of a slot whose message is complete.
#[inline(always)]
fn word(number: u64, mark: u64) -> u64 {
    ((number + 1) << NUMBER_SHIFT) | mark
}

// SAFETY: repr(C), atomics only, aligned to 64.
unsafe impl SharedWords for Control {}
// SAFETY: repr(C), an atomic and integers in a cell that the atomic guards, aligned to 128.
unsafe impl SharedWords for Slot {}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Control>() == 256 && size_of::<Slot>() == 128);
