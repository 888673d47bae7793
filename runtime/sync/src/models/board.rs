//! Models of a board: one writer, two readers, and rings of four lines.
#![allow(unsafe_code)] // one writer, and room that both readers have told

use super::{explore, shared};
use crate::board::{Board, INLINE_MAX, Look, Ring, Words, lines};
use loom::sync::Arc;
use loom::thread;

const RING: Ring = Ring::Short;
const SIGNATURE: u16 = 5;

/// The boards of a writer and of two readers.
#[derive(Default)]
struct Boards {
    writer: Words,
    readers: [Words; 2],
}

/// The lengths of messages in turn. The longer ones take two lines.
const SHORT: usize = 1;
const LONG: usize = INLINE_MAX + 9;

/// Returns the position of each message, and the position behind it.
fn places(lens: &[usize]) -> impl Iterator<Item = (u64, u64, usize)> {
    lens.iter().scan(0, |end, &len| {
        let position = RING.fit(*end, lines(len));
        *end = position + lines(len);
        Some((position, *end, len))
    })
}

impl Boards {
    /// Puts the message at `position` if both readers have consumed what lies in its lines. Returns
    /// false if one has not.
    fn put(&self, position: u64, end: u64, len: usize) -> bool {
        let has_room = |reader| end <= Board::new(reader).consumed(RING) + RING.lines();
        if !self.readers.iter().all(has_room) {
            return false;
        }
        let fill = |payload: &mut [u8]| payload.fill(position as u8 + 1);
        // SAFETY: one writer, messages as `places` says, and room by the check above.
        unsafe { Board::new(&self.writer).put(RING, position, SIGNATURE, len, fill) };
        true
    }

    /// Takes the message at `position`, and tells so if `tells`. Returns false if it is not here.
    fn take(&self, reader: usize, (position, end, len): (u64, u64, usize), tells: bool) -> bool {
        let board = Board::new(&self.writer);
        match board.look(RING, position, SIGNATURE) {
            Look::Arrived => {}
            Look::Missing => return false,
            Look::Other(_) => panic!("the signature of another message"),
        }
        // SAFETY: the message is here, and this reader tells only afterwards.
        let payload = unsafe { board.payload(RING, position, len) };
        assert_eq!(payload.len(), len);
        assert!(payload.iter().all(|&byte| byte == position as u8 + 1));
        drop(payload);
        if tells {
            Board::new(&self.readers[reader]).consume(RING, end);
        }
        true
    }

    /// Puts as many of the messages as there is room for. Tries each message `tries` times.
    fn put_all(&self, places: impl Iterator<Item = (u64, u64, usize)>, tries: usize) -> usize {
        let put = |&(position, end, len): &(u64, u64, usize)| {
            (0..tries).any(|_| {
                let is_put = self.put(position, end, len);
                if !is_put {
                    thread::yield_now();
                }
                is_put
            })
        };
        places.take_while(put).count()
    }

    /// Takes the messages that are here. Returns their number.
    fn take_all(&self, reader: usize, places: impl Iterator<Item = (u64, u64, usize)>) -> usize {
        places.take_while(|&place| self.take(reader, place, true)).count()
    }
}

/// Runs the writer of messages of these lengths, and two readers. The first `before` messages are
/// there before the readers start. When all are done, the readers take the rest, so that each has
/// read each message that was put.
fn round_the_ring(boards: &Arc<Boards>, lens: &'static [usize], before: usize) {
    assert_eq!(boards.put_all(places(lens).take(before), 1), before);
    let readers: Vec<_> = (0..2)
        .map(|reader| {
            let boards = boards.clone();
            thread::spawn(move || boards.take_all(reader, places(lens)))
        })
        .collect();
    let put = before + boards.put_all(places(lens).skip(before), 2);
    for (reader, thread) in readers.into_iter().enumerate() {
        let taken = thread.join().unwrap();
        let rest = boards.take_all(reader, places(lens).skip(taken));
        assert_eq!(taken + rest, put);
        let end = places(lens).take(put).last().map_or(0, |(_, end, _)| end);
        assert_eq!(Board::new(&boards.readers[reader]).consumed(RING), end);
    }
}

/// A writer and two readers go round the ring. No reader reads a line while it is written again.
/// The model fails if `put` stores or `look` loads the word as Relaxed. It also fails if `consume`
/// stores or `consumed` loads as Relaxed.
#[test]
fn messages_of_one_line() {
    explore("one writer, 6 messages, 4 lines, two readers", Some(2), || {
        round_the_ring(&shared(Boards::default()), &[SHORT; 6], 4);
    });
}

/// A writer and two readers go round the ring with messages of one line and of two lines. Two of
/// the long messages do not fit before the end of the ring, so they begin the next lap.
#[test]
fn messages_that_skip_the_end_of_the_ring() {
    explore("one writer, messages of 1 and 2 lines, two readers", Some(2), || {
        // Positions 0, 1, 4, 6, 8: lines 3 and 7 stay empty.
        let lens = &[SHORT, LONG, LONG, SHORT, LONG];
        let at: Vec<u64> = places(lens).map(|(position, ..)| position).collect();
        assert_eq!(at, [0, 1, 4, 6, 8]);
        round_the_ring(&shared(Boards::default()), lens, 1);
    });
}

/// Readers tell what they have consumed only once, after two messages. The writer that found no
/// room goes on then.
#[test]
fn a_writer_without_room_goes_on() {
    explore("one writer, 5 messages, 4 lines, readers that tell late", Some(3), || {
        let boards = shared(Boards::default());
        let lens = &[SHORT; 5];
        assert_eq!(boards.put_all(places(lens), 1), 4, "the ring is full");
        let readers: Vec<_> = (0..2)
            .map(|reader| {
                let boards = boards.clone();
                thread::spawn(move || {
                    for (nth, place) in places(lens).take(2).enumerate() {
                        assert!(boards.take(reader, place, nth == 1));
                    }
                })
            })
            .collect();
        let last = places(lens).last().unwrap();
        while !boards.put(last.0, last.1, last.2) {
            thread::yield_now();
        }
        readers.into_iter().for_each(|reader| reader.join().unwrap());
        for reader in 0..2 {
            assert_eq!(boards.take_all(reader, places(lens).skip(2)), 3);
        }
    });
}
