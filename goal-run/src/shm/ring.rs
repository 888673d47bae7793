//! A rank's inbox: a bounded ring that any number of senders put messages into and one receiver takes them from.
//!
//! One ring a receiver, shared by all its senders: memory grows with ranks, not with their square. The ring is an array of
//! cells, each one cache line. A message takes consecutive cells:
//!
//! ```text
//! first cell  | word u64 | header 48 bytes | payload 8 bytes |     word: PUBLISHED | payload length
//! more cells  | payload 64 bytes                             | ...
//! ```
//!
//! A sender reserves cells by advancing `tail`, writes header and payload in place and publishes the message by
//! storing the first cell's word. The receiver looks at the word at its own `head` only, so that a message of 8 bytes
//! costs one line to hand over. It clears the first word of every cell before it gives them back by publishing
//! `head`, which it does a quarter of the ring at a time or when it goes idle, to keep that line shared. A message does
//! not wrap around: the rest of the ring is skipped by a padding message. Messages of one sender stay in order.
//!
//! A receiver that sleeps says so in `sleeper`, and only then do senders make a system call.
#![allow(unsafe_code)]

use super::mapping::{Mapping, SharedWords};
use rustix::thread::futex::{self, Flags, Timespec};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// Words of a message's header, whose meaning is the transport's.
pub const HEADER_WORDS: usize = 6;

/// Bytes before the cells.
pub(super) const CONTROL_BYTES: usize = 256;

const CELL: usize = 64;
const HEADER_AT: usize = 8;
const PAYLOAD_AT: usize = HEADER_AT + 8 * HEADER_WORDS;
const PAYLOAD_FIRST: usize = CELL - PAYLOAD_AT;

const PUBLISHED: u64 = 1 << 63;
const PADDING: u64 = 1 << 62;
const LEN_MASK: u64 = u32::MAX as u64;

/// The ring has no room for the message now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

#[derive(Default)]
#[repr(C, align(64))]
struct Line<T>(T);

#[derive(Default)]
#[repr(C)]
struct Control {
    /// Cells reserved so far.
    tail: Line<AtomicU64>,
    /// What the receiver writes and senders read.
    receiver: Line<Receiver>,
    /// 1 while the receiver sleeps or is about to: a futex.
    sleeper: Line<AtomicU32>,
}

#[derive(Default)]
#[repr(C)]
struct Receiver {
    /// Cells given back so far.
    head: AtomicU64,
    /// Bytes of messages without a receive that there is room for beyond the ring.
    room: AtomicU64,
}

// SAFETY: repr(C), atomics only, aligned to 64.
unsafe impl SharedWords for Control {}

/// The sending end, and what an observer may see.
///
/// Invariant: `cells` points at `mask + 1` cells of a live mapping that `'a` outlives.
#[derive(Clone, Copy)]
pub struct Inbox<'a> {
    control: &'a Control,
    cells: NonNull<u8>,
    mask: u64,
}

// SAFETY: the cells are shared memory; who may touch which is decided by the protocol, not by the thread.
unsafe impl Send for Inbox<'_> {}

impl<'a> Inbox<'a> {
    /// The ring of `cells` cells, a power of two, whose control words lie at `offset`.
    ///
    /// # Panics
    /// If it is not inside the mapping, or `cells` is not a power of two of at least 16.
    pub fn new(mapping: &'a Mapping, offset: usize, cells: usize) -> Self {
        assert!(cells.is_power_of_two() && cells >= 16);
        Self {
            control: mapping.words(offset),
            cells: mapping.range(offset + CONTROL_BYTES, cells * CELL),
            mask: cells as u64 - 1,
        }
    }

    /// Most bytes of a message's payload: a message takes at most an eighth of the ring, so that one never waits for an
    /// empty ring.
    pub fn payload_max(&self) -> usize {
        (self.mask as usize).div_ceil(8) * CELL - PAYLOAD_AT
    }

    /// Cells reserved and given back so far; equal when the ring is empty and its receiver is idle.
    pub fn positions(&self) -> (u64, u64) {
        (self.control.tail.0.load(Ordering::SeqCst), self.control.receiver.0.head.load(Ordering::SeqCst))
    }

    /// Puts a message of `len` payload bytes, which `fill` writes in place; wakes the receiver if it sleeps.
    ///
    /// # Errors
    /// [`Full`]; nothing was done.
    ///
    /// # Panics
    /// If `len` is above [`Inbox::payload_max`].
    #[inline]
    pub fn put(
        &self,
        header: &[u64; HEADER_WORDS],
        len: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Full> {
        assert!(len <= self.payload_max());
        let at = self.reserve(cells(len))?;
        let cell = self.cell(at);
        // SAFETY: the reservation made these cells this sender's alone until the word is stored; they are consecutive
        // in memory because `reserve` pads at the end of the ring; header and payload lie inside them, and the
        // header's address is a multiple of 8. Bytes of a mapping are initialised.
        let payload = unsafe {
            cell.add(HEADER_AT).cast::<[u64; HEADER_WORDS]>().write(*header);
            std::slice::from_raw_parts_mut(cell.add(PAYLOAD_AT).as_ptr(), len)
        };
        fill(payload);
        // SeqCst, as the three other accesses of sender and sleeper to these words: either the sender sees the sleeper or the
        // sleeper sees the message. So no fence is needed.
        self.word(at).store(PUBLISHED | len as u64, Ordering::SeqCst);
        if self.control.sleeper.0.load(Ordering::SeqCst) != 0 {
            self.wake();
        }
        Ok(())
    }

    /// Reserves consecutive cells; tells the first one's position.
    #[inline]
    fn reserve(&self, need: u64) -> Result<u64, Full> {
        let cells = self.mask + 1;
        let mut tail = self.control.tail.0.load(Ordering::Relaxed);
        loop {
            let place = tail & self.mask;
            let padding = if place + need > cells { cells - place } else { 0 };
            let end = tail + padding + need;
            // Acquire: the receiver's last look at these cells comes before what is written to them now.
            let head = self.control.receiver.0.head.load(Ordering::Acquire);
            if end.saturating_sub(head) > cells {
                return Err(Full);
            }
            match self.control.tail.0.compare_exchange_weak(tail, end, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    if padding > 0 {
                        // SeqCst: a sleeper may be looking at this word.
                        self.word(tail).store(PUBLISHED | PADDING | padding, Ordering::SeqCst);
                    }
                    return Ok(tail + padding);
                }
                Err(now) => tail = now,
            }
        }
    }

    /// The room beyond the ring that the receiver announced last; 0 before it announced any.
    #[inline]
    pub fn room(&self) -> u64 {
        self.control.receiver.0.room.load(Ordering::Relaxed)
    }

    /// Wakes the receiver if it sleeps.
    #[cold]
    pub fn wake(&self) {
        if self.control.sleeper.0.swap(0, Ordering::SeqCst) != 0 {
            // Fails only for an address that is not mapped.
            let _ = futex::wake(&self.control.sleeper.0, Flags::empty(), 1);
        }
    }

    #[inline]
    fn cell(&self, position: u64) -> NonNull<u8> {
        // SAFETY: the mask keeps the cell inside the ring.
        unsafe { self.cells.add((position & self.mask) as usize * CELL) }
    }

    #[inline]
    fn word(&self, position: u64) -> &AtomicU64 {
        // SAFETY: a cell is inside the mapping and aligned to 64. Its first 8 bytes are accessed as an atomic by everybody
        // but the sender that fills them with payload, whose accesses the protocol orders before and after.
        unsafe { self.cell(position).cast::<AtomicU64>().as_ref() }
    }
}

/// The receiving end.
pub struct Consumer<'a> {
    inbox: Inbox<'a>,
    /// Cells taken so far.
    head: u64,
    /// What of it the senders know.
    published: u64,
}

impl<'a> Consumer<'a> {
    /// The receiving end of a ring. There must be one at a time, or messages are lost.
    pub fn new(inbox: Inbox<'a>) -> Self {
        let head = inbox.control.receiver.0.head.load(Ordering::Acquire);
        Self { inbox, head, published: head }
    }

    /// Whether a message waits.
    #[inline]
    pub fn has_message(&self) -> bool {
        self.inbox.word(self.head).load(Ordering::Acquire) != 0
    }

    /// Hands the first message to `sink` and takes it out; false if there was none.
    #[inline]
    pub fn take(&mut self, sink: impl FnOnce(&[u64; HEADER_WORDS], &[u8])) -> bool {
        let mut word = self.inbox.word(self.head).load(Ordering::Acquire);
        if word == 0 {
            return false;
        }
        if word & PADDING != 0 {
            self.advance(word & LEN_MASK);
            word = self.inbox.word(self.head).load(Ordering::Acquire);
            if word == 0 {
                return false;
            }
        }
        let len = (word & LEN_MASK) as usize;
        assert!(len <= self.inbox.payload_max(), "a sender spoiled the ring");
        let cell = self.inbox.cell(self.head);
        // SAFETY: the sender published these cells and does not touch them again before `head` passes them, which
        // happens after `sink` returned and the references are gone. They are consecutive and inside the ring, as the
        // length is bounded and messages don't wrap: checked for a hostile sender by the bound and the next line.
        let (header, payload) = unsafe {
            assert!((self.head & self.inbox.mask) + cells(len) <= self.inbox.mask + 1);
            let header = cell.add(HEADER_AT).cast::<[u64; HEADER_WORDS]>().as_ref();
            (header, std::slice::from_raw_parts(cell.add(PAYLOAD_AT).as_ptr(), len))
        };
        sink(header, payload);
        self.advance(cells(len));
        true
    }

    #[inline]
    fn advance(&mut self, cells: u64) {
        for i in 0..cells {
            self.inbox.word(self.head + i).store(0, Ordering::Relaxed);
        }
        self.head += cells;
        if self.head - self.published > self.inbox.mask / 4 {
            self.publish();
        }
    }

    /// Tells the senders of all room that there is.
    pub fn publish(&mut self) {
        if self.published != self.head {
            self.published = self.head;
            self.inbox.control.receiver.0.head.store(self.head, Ordering::Release);
        }
    }

    /// Tells the senders of the room beyond the ring, in bytes.
    pub fn announce_room(&mut self, bytes: u64) {
        self.inbox.control.receiver.0.room.store(bytes, Ordering::Relaxed);
    }

    /// Prepares to sleep: senders ring from now on. False, and they don't, if there is a message.
    pub fn arm(&mut self) -> bool {
        self.publish();
        let sleeper = &self.inbox.control.sleeper.0;
        sleeper.store(1, Ordering::SeqCst);
        // SeqCst: see `Inbox::put`.
        let is_empty = self.inbox.word(self.head).load(Ordering::SeqCst) == 0;
        if !is_empty {
            sleeper.store(0, Ordering::Relaxed);
        }
        is_empty
    }

    /// Sleeps, once armed, until a sender rings, `limit` passes or a signal arrives.
    pub fn wait(&mut self, limit: Option<Duration>) {
        let sleeper = &self.inbox.control.sleeper.0;
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        // Returning early for whatever reason is fine: the caller looks at the ring again.
        let _ = futex::wait(sleeper, Flags::empty(), 1, limit.as_ref());
        sleeper.store(0, Ordering::Relaxed);
    }
}

/// Cells of a message.
#[inline]
fn cells(len: usize) -> u64 {
    1 + len.saturating_sub(PAYLOAD_FIRST).div_ceil(CELL) as u64
}
