//! Models of a rank that naps until the word of a cell comes.
//!
//! Loom knows no `membarrier`. In its place, and in the place of the writer's light fence, models
//! have full fences. Such a pair orders the two sides as the asymmetric pair does.
#![allow(unsafe_code)] // one writer of a board

use super::mailbox::Allocated;
use super::{explore, shared};
use crate::board::{Board, Look, Ring, Words};
use crate::helpers::Marks;
use crate::napping::{Fences, Napping};
use loom::thread;

/// The board of rank 0, and rank 1, which reads it.
#[derive(Default)]
struct Ranks {
    board: Words,
    marks: [Marks; 1],
    reader: Allocated,
}

impl Ranks {
    /// Rank 0 puts a message and wakes rank 1 if it naps.
    fn put(&self, position: u64, fences: Fences) {
        // SAFETY: one writer, in the first lap.
        unsafe { Board::new(&self.board).put(Ring::Short, position, 1, 0, |_| ()) };
        Napping::wake(Napping::new(&self.marks, fences).sleepers(0b10), |rank| {
            assert_eq!(rank, 1);
            self.reader.mailbox().wake();
        });
    }

    fn has_come(&self, position: u64) -> bool {
        Board::new(&self.board).look(Ring::Short, position, 1) == Look::Arrived
    }

    /// Rank 1 waits for a message and sleeps whenever it is not here.
    fn await_message(&self, position: u64, fences: Fences) {
        let (napping, mailbox) = (Napping::new(&self.marks, fences), self.reader.mailbox());
        while !self.has_come(position) {
            assert!(mailbox.arm());
            assert!(napping.enter(1), "these fences order writer and reader");
            if self.has_come(position) {
                mailbox.disarm();
            } else {
                mailbox.wait(None);
            }
            napping.leave(1);
        }
    }
}

/// A writer puts messages while a reader goes to sleep before each of them. Loom fails a model in
/// which a thread sleeps for ever.
fn reader_wakes(name: &str, writer: Fences, reader: Fences, messages: u64) {
    let switches = (messages > 1).then_some(3);
    explore(name, switches, move || {
        let ranks = shared(Ranks::default());
        let thread = {
            let ranks = ranks.clone();
            thread::spawn(move || (0..messages).for_each(|position| ranks.put(position, writer)))
        };
        (0..messages).for_each(|position| ranks.await_message(position, reader));
        thread.join().unwrap();
        assert!(!ranks.reader.mailbox().wake(), "the reader is awake");
    });
}

#[test]
fn no_reader_sleeps_on() {
    reader_wakes("2 messages, light fence, membarrier", Fences::Asymmetric, Fences::Asymmetric, 2);
    reader_wakes("2 messages, full fences", Fences::Full, Fences::Full, 2);
}

/// A process that may not call `membarrier` writes for one that may.
#[test]
fn a_writer_with_a_full_fence_suits_every_reader() {
    reader_wakes("1 message, full fence, membarrier", Fences::Unordered, Fences::Asymmetric, 1);
}

#[test]
#[should_panic(expected = "deadlock")]
fn without_the_fence_of_the_writer_a_reader_sleeps_on() {
    reader_wakes("no fence, membarrier", Fences::None, Fences::Asymmetric, 1);
}

#[test]
#[should_panic(expected = "deadlock")]
fn without_the_fence_of_the_reader_it_sleeps_on() {
    reader_wakes("light fence, no fence", Fences::Asymmetric, Fences::None, 1);
}

/// Two readers nap for one message, and one writer wakes both.
#[test]
fn two_readers_nap() {
    explore("two readers of 1 message", Some(3), || {
        let ranks = shared((Words::default(), [Marks::default()], <[Allocated; 2]>::default()));
        let fences = Fences::Asymmetric;
        let has_come = |board: &Words| Board::new(board).look(Ring::Short, 0, 1) == Look::Arrived;
        let readers: Vec<_> = (0..2)
            .map(|rank| {
                let ranks = ranks.clone();
                thread::spawn(move || {
                    let (board, marks, allocated) = &*ranks;
                    let mailbox = allocated[rank as usize].mailbox();
                    let napping = Napping::new(marks, fences);
                    while !has_come(board) {
                        assert!(mailbox.arm() && napping.enter(rank));
                        if has_come(board) {
                            mailbox.disarm()
                        } else {
                            mailbox.wait(None)
                        }
                        napping.leave(rank);
                    }
                })
            })
            .collect();
        let (board, marks, allocated) = &*ranks;
        // SAFETY: one writer, in the first lap.
        unsafe { Board::new(board).put(Ring::Short, 0, 1, 0, |_| ()) };
        Napping::wake(Napping::new(marks, fences).sleepers(u64::MAX), |rank| {
            allocated[rank as usize].mailbox().wake();
        });
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
}
