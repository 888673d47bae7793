//! Rings of pairs, announced in a mailbox, and their pool.

use super::{explore, shared};
use crate::shm::endpoint::Endpoint;
use crate::shm::mailbox::{Control, Mailbox, SHORT_MAX, Slot};
use crate::shm::pair::Ends;
use crate::shm::pool::{Entry, Pool, Rings};
use crate::shm::sync::{LINE, Lines};
use loom::thread;

/// Lines of a ring: a message takes at most a quarter.
const RING_LINES: usize = 8;

/// Two ranks, and one ring.
struct Allocated {
    boxes: [(Control, [Slot; 2]); 2],
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
        Mailbox::new(&self.boxes[rank].0, &self.boxes[rank].1)
    }

    fn endpoint(&self, rank: usize) -> Endpoint<'_> {
        let rings = Rings::new(&self.pool, &self.ends, self.lines.all());
        Endpoint::new(self.mailbox(rank), rings, &self.tables[rank])
    }

    /// Rank 0 sends message `number` to rank 1; false if there is no room.
    fn put(&self, number: u64, len: usize) -> bool {
        let fill = |payload: &mut [u8]| payload.fill(number as u8 + 1);
        self.endpoint(0).put((1, self.mailbox(1)), &[number, len as u64, 0, 0, 0, 0], len, fill).is_ok()
    }

    /// Rank 1 takes a message, which must be the one after `next` others.
    fn take(&self, next: &mut u64) -> bool {
        self.endpoint(1).take(|header, payload| {
            assert_eq!((header[0], header[1]), (*next, payload.len() as u64));
            assert!(payload.iter().all(|&byte| u64::from(byte) == *next + 1));
            *next += 1;
        })
    }
}

/// Payloads of one and two lines in a ring of eight: the fifth does not fit before its end; short ones in between.
#[test]
fn round_the_ring() {
    const LENS: [usize; 7] = [2 * LINE, LINE + 1, 2 * LINE, LINE + 1, 3, 2 * LINE, 2 * LINE];
    explore("one sender, 7 messages, ring of 8 lines", Some(4), || {
        let allocated = shared(Allocated::new(1));
        let mut next = 0;
        // The first ones in one thread: the interesting place is the end of the ring.
        for number in 0..3 {
            assert!(allocated.put(number, LENS[number as usize]));
            assert!(allocated.take(&mut next));
        }
        let sender = {
            let allocated = allocated.clone();
            thread::spawn(move || {
                let rest =
                    (3..LENS.len() as u64).take_while(|&number| allocated.put(number, LENS[number as usize]));
                rest.count() as u64
            })
        };
        for _ in 0..2 {
            if !allocated.take(&mut next) {
                thread::yield_now();
            }
        }
        let sent = 3 + sender.join().unwrap();
        while allocated.take(&mut next) {}
        assert_eq!(next, sent);
    });
}

/// Credits come back while the box has room for more than the ring.
#[test]
fn a_full_ring_waits_for_credits() {
    explore("one sender, ring full before the box", None, || {
        let allocated = shared(Allocated::new(1));
        let mut next = 0;
        for number in 0..3 {
            assert!(allocated.put(number, 2 * LINE));
            if number < 2 {
                assert!(allocated.take(&mut next));
            }
        }
        let sender = {
            let allocated = allocated.clone();
            thread::spawn(move || (3..5).take_while(|&number| allocated.put(number, 2 * LINE)).count() as u64)
        };
        allocated.take(&mut next);
        let sent = 3 + sender.join().unwrap();
        while allocated.take(&mut next) {}
        assert_eq!(next, sent);
    });
}

/// Two ranks ask for a ring each at the same time, where there are two and where there is one.
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
            let large = both.iter().filter(|&&max| max == RING_LINES / 4 * LINE).count();
            assert_eq!(large, rings);
            assert_eq!(both.iter().filter(|&&max| max == SHORT_MAX).count(), 2 - rings);
            let view = Rings::new(&allocated.pool, &allocated.ends, allocated.lines.all());
            let [number, other] = [(0, 1), (1, 0)].map(|(from, to)| view.number(&allocated.tables[from][to]));
            assert!(number != other || rings == 0, "the same ring for two pairs");
        });
    }
}
