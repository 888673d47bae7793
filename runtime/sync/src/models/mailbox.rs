//! Models of the mailbox: its laps, its room, and a receiver that sleeps.
#![allow(unsafe_code)] // one receiver

use super::{explore, shared};
use crate::mailbox::{Control, HEADER_WORDS, Mailbox, Payload, Slot};
use crate::sync::Bell;
use loom::thread;

/// A mailbox of two slots, the smallest one in which laps differ.
#[derive(Default)]
pub(super) struct Allocated {
    control: Control,
    slots: [Slot; 2],
}

impl Allocated {
    pub(super) fn mailbox(&self) -> Mailbox<'_> {
        Mailbox::new(&self.control, &self.slots, Bell::default())
    }

    /// Puts message `number` of `sender`. Returns false if there is no room.
    fn put(&self, sender: u64, number: u64) -> bool {
        let header = [sender, number, 0, 0, 0, 0];
        self.mailbox().put(&header, 1, |payload| payload[0] = number as u8 + 1).is_ok()
    }

    /// Takes a message and checks that it is the next one of its sender. `next` has the number of
    /// the next message of each sender.
    fn take(&self, next: &mut [u64]) -> bool {
        let check = |header: &[u64; HEADER_WORDS], payload: Payload<'_>| {
            let Payload::Here(&[byte]) = payload else { panic!("a payload of one byte") };
            let [sender, number, ..] = *header;
            assert_eq!(number, next[sender as usize], "in order");
            assert_eq!(u64::from(byte), number + 1);
            next[sender as usize] += 1;
        };
        // SAFETY: a model has one receiver.
        unsafe { self.mailbox().take(check) }
    }
}

/// A sender fills the mailbox for several laps while its receiver takes messages.
#[test]
fn one_sender_round_the_box() {
    explore("one sender, 5 messages, 2 slots", None, || {
        let allocated = shared(Allocated::default());
        let sender = {
            let allocated = allocated.clone();
            thread::spawn(move || {
                (0..5).take_while(|&number| allocated.put(0, number)).count() as u64
            })
        };
        let mut next = [0];
        for _ in 0..3 {
            if !allocated.take(&mut next) {
                thread::yield_now();
            }
        }
        let sent = sender.join().unwrap();
        while allocated.take(&mut next) {}
        assert_eq!(next, [sent]);
        assert_eq!(allocated.mailbox().positions(), (sent, sent));
    });
}

/// Another thread than the receiver tells the sender of free slots. What the receiver read there
/// happens before the sender writes it again. The model fails if `publish` loads `head` as Relaxed.
#[test]
fn another_thread_publishes() {
    explore("one sender, 3 messages, 2 slots, a third thread publishes", None, || {
        let allocated = shared(Allocated::default());
        (0..2).for_each(|number| assert!(allocated.put(0, number)));
        let sender = {
            let allocated = allocated.clone();
            thread::spawn(move || u64::from(allocated.put(0, 2)))
        };
        let publisher = {
            let allocated = allocated.clone();
            thread::spawn(move || allocated.mailbox().publish())
        };
        let mut next = [0];
        assert!(allocated.take(&mut next));
        publisher.join().unwrap();
        let sent = 2 + sender.join().unwrap();
        while allocated.take(&mut next) {}
        assert_eq!(next, [sent]);
    });
}

/// Two senders draw numbers at the same time and use each other's copy of the room.
#[test]
fn two_senders_round_the_box() {
    explore("two senders, 2 messages each, 2 slots", Some(3), || {
        let allocated = shared(Allocated::default());
        let senders: Vec<_> = (0..2)
            .map(|sender| {
                let allocated = allocated.clone();
                thread::spawn(move || {
                    (0..2).take_while(|&number| allocated.put(sender, number)).count() as u64
                })
            })
            .collect();
        let mut next = [0; 2];
        for _ in 0..2 {
            if !allocated.take(&mut next) {
                thread::yield_now();
            }
        }
        let sent: Vec<u64> = senders.into_iter().map(|sender| sender.join().unwrap()).collect();
        while allocated.take(&mut next) {}
        assert_eq!(next[..], sent[..]);
    });
}

/// A receiver that sleeps whenever it finds no message gets all messages. No sender misses that it
/// sleeps.
#[test]
fn a_sleeper_is_woken() {
    explore("one sender, 2 messages, a receiver that sleeps", None, || sleeper_gets([2, 0]));
    explore("two senders, 1 message each, a receiver that sleeps", Some(2), || {
        sleeper_gets([1, 1])
    });
}

/// Sends this many messages from each sender and receives them all.
fn sleeper_gets(messages: [u64; 2]) {
    let allocated = shared(Allocated::default());
    let mut senders = Vec::new();
    for sender in (0..2).filter(|&sender| messages[sender] > 0) {
        let allocated = allocated.clone();
        senders.push(thread::spawn(move || {
            (0..messages[sender]).for_each(|number| assert!(allocated.put(sender as u64, number)));
        }));
    }
    let mut next = [0; 2];
    while next != messages {
        if allocated.take(&mut next) {
            continue;
        }
        if allocated.mailbox().arm() {
            allocated.mailbox().wait(None);
        }
        // A message is here or on its way.
        thread::yield_now();
    }
    for sender in senders {
        sender.join().unwrap();
    }
}
