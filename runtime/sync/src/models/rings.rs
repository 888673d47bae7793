//! Models of rings and of their pool. A mailbox announces the payloads in a ring.
#![allow(unsafe_code)] // one sender and one receiver per rank

use super::{explore, shared};
use crate::endpoint::Endpoint;
use crate::mailbox::{Control, HEADER_WORDS, Mailbox, SHORT_MAX, Slot};
use crate::pool::{Entry, Pool, Rings};
use crate::ring::Ends;
use crate::sync::{Bell, LINE, Lines};
use loom::thread;

/// The lines of a ring, and the most of them that a message takes.
const RING_LINES: usize = 32;
const MESSAGE_LINES: usize = 4;

/// The slots of a mailbox. They are enough for a ring to fill up first.
const SLOTS: usize = 16;

/// Two ranks and some rings.
struct Allocated {
    boxes: [(Control, [Slot; SLOTS]); 2],
    tables: [[Entry; 2]; 2],
    pool: Pool,
    ends: Vec<Ends>,
    lines: Lines,
}

impl Allocated {
    fn new(rings: usize) -> Self {
        Self {
            boxes: Default::default(),
            tables: Default::default(),
            pool: Pool::default(),
            ends: (0..rings).map(|_| Ends::default()).collect(),
            lines: Lines::new(rings * RING_LINES),
        }
    }

    fn mailbox(&self, rank: usize) -> Mailbox<'_> {
        Mailbox::new(&self.boxes[rank].0, &self.boxes[rank].1, Bell::default())
    }

    fn endpoint(&self, rank: usize) -> Endpoint<'_> {
        let rings = Rings::new(&self.pool, &self.ends, self.lines.all());
        Endpoint::new(self.mailbox(rank), rings, &self.tables[rank])
    }

    /// Rank 0 sends message `number` to rank 1. Returns false if there is no room.
    fn put(&self, number: u64, len: usize) -> bool {
        let fill = |payload: &mut [u8]| payload.fill(number as u8 + 1);
        let header = [number, len as u64, 0, 0, 0, 0];
        // SAFETY: the model has one sender per rank.
        unsafe { self.endpoint(0).put((1, self.mailbox(1)), &header, len, fill) }.is_ok()
    }

    /// Rank 1 takes a message and checks that it is number `next`.
    fn take(&self, next: &mut u64) -> bool {
        let sink = |header: &[u64; HEADER_WORDS], payload: &[u8]| {
            assert_eq!((header[0], header[1]), (*next, payload.len() as u64));
            assert!(payload.iter().all(|&byte| u64::from(byte) == *next + 1));
            *next += 1;
        };
        // SAFETY: the model has one receiver per rank.
        unsafe { self.endpoint(1).take(sink) }
    }
}

/// One payload does not fit before the ring's end, and a short message without a ring is in
/// between. The last payload has room only if the sender sees what the receiver took meanwhile.
#[test]
fn round_the_ring() {
    // Lines 0 to 27. The receiver takes 9 of them before the sender goes on.
    const BEFORE: [usize; 9] = [3 * LINE; 9];
    // Lines 27 to 30, 32 to 35, none, 35 to 37, 37 to 40, and 40 to 42. Without a further take
    // there is room up to line 41, which is 9 + 32.
    const MEANWHILE: [usize; 6] = [3 * LINE, 2 * LINE + 1, 3, 2 * LINE, 3 * LINE, LINE + 1];
    explore("one sender, 6 messages round the end of a ring of 32 lines", None, || {
        let allocated = shared(Allocated::new(1));
        let mut next = 0;
        for (number, len) in BEFORE.into_iter().enumerate() {
            assert!(allocated.put(number as u64, len));
        }
        (0..3).for_each(|_| assert!(allocated.take(&mut next)));
        let sender = {
            let allocated = allocated.clone();
            thread::spawn(move || {
                let messages = (BEFORE.len() as u64..).zip(MEANWHILE);
                messages.take_while(|&(number, len)| allocated.put(number, len)).count()
            })
        };
        (0..2).for_each(|_| assert!(allocated.take(&mut next)));
        let sent = BEFORE.len() + sender.join().unwrap();
        assert!(sent >= BEFORE.len() + 5, "room for these was there before");
        while allocated.take(&mut next) {}
        assert_eq!(next, sent as u64);
    });
}

/// The sender looks if its ring is empty while the receiver takes the last payload. If it is, the
/// next payload begins with the first line, over bytes that were just read.
#[test]
fn back_to_the_first_line() {
    // Lines 0 to 9, so that the sender looks with the next payload.
    const BEFORE: [usize; 3] = [3 * LINE; 3];
    const MEANWHILE: [usize; 2] = [4 * LINE, 2 * LINE];
    explore("one sender, a ring that gets empty", None, || {
        let allocated = shared(Allocated::new(1));
        let mut next = 0;
        for (number, len) in BEFORE.into_iter().enumerate() {
            assert!(allocated.put(number as u64, len));
        }
        (0..2).for_each(|_| assert!(allocated.take(&mut next)));
        let sender = {
            let allocated = allocated.clone();
            thread::spawn(move || {
                for (number, len) in (BEFORE.len() as u64..).zip(MEANWHILE) {
                    assert!(allocated.put(number, len));
                }
            })
        };
        for _ in 0..2 {
            let _ = allocated.take(&mut next);
        }
        sender.join().unwrap();
        while allocated.take(&mut next) {}
        assert_eq!(next, (BEFORE.len() + MEANWHILE.len()) as u64);
    });
}

/// Two ranks ask for a ring at the same time, with a pool of two rings and with a pool of one.
#[test]
fn rings_are_handed_out_once() {
    for rings in 1..3 {
        explore(&format!("two senders, pool of {rings}"), None, move || {
            let allocated = shared(Allocated::new(rings));
            let other = {
                let allocated = allocated.clone();
                thread::spawn(move || allocated.endpoint(1).payload_max(0))
            };
            let mine = allocated.endpoint(0).payload_max(1);
            let both = [mine, other.join().unwrap()];
            let large = both.iter().filter(|&&max| max == MESSAGE_LINES * LINE).count();
            assert_eq!(large, rings);
            assert_eq!(both.iter().filter(|&&max| max == SHORT_MAX).count(), 2 - rings);
            let view = Rings::new(&allocated.pool, &allocated.ends, allocated.lines.all());
            let [number, other] =
                [(0, 1), (1, 0)].map(|(from, to)| view.number(&allocated.tables[from][to]));
            assert!(number != other || rings == 0, "the same ring for two pairs");
        });
    }
}
