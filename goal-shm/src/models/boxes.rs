//! The mailbox: laps, room, and a receiver that sleeps.

use super::{explore, shared};
use crate::Bell;
use crate::mailbox::{Control, Mailbox, Payload, Slot};
use loom::thread;

/// A mailbox of two slots, the smallest in which a lap means something.
#[derive(Default)]
pub(super) struct Allocated {
    control: Control,
    slots: [Slot; 2],
}

impl Allocated {
    pub(super) fn mailbox(&self) -> Mailbox<'_> {
        Mailbox::new(&self.control, &self.slots, Bell::default())
    }

    /// Puts message `number` of `sender`; false if there is no room.
    fn put(&self, sender: u64, number: u64) -> bool {
        let header = [sender, number, 0, 0, 0, 0];
        self.mailbox().put(&header, 1, |payload| payload[0] = number as u8 + 1).is_ok()
    }

    /// Takes a message, whose sender must not have sent an earlier one that is still to come:
    /// `next` counts them.
    fn take(&self, next: &mut [u64]) -> bool {
        self.mailbox().take(|header, payload| {
            let Payload::Here(&[byte]) = payload else { panic!("a payload of one byte") };
            let [sender, number, ..] = *header;
            assert_eq!(number, next[sender as usize], "in order");
            assert_eq!(u64::from(byte), number + 1);
            next[sender as usize] += 1;
        })
    }
}

/// A sender fills the box for several laps while its receiver takes.
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

/// Two senders draw numbers at the same time, and see room that the other one saw.
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

/// A receiver that sleeps whenever it finds nothing gets everything: no sender misses that it
/// sleeps.
#[test]
fn a_sleeper_is_woken() {
    explore("one sender, 2 messages, a receiver that sleeps", None, || sleeper_gets([2, 0]));
    explore("two senders, 1 message each, a receiver that sleeps", Some(2), || {
        sleeper_gets([1, 1])
    });
}

/// The receiver gets as many messages as each sender has.
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
        // There is a message, or will be.
        thread::yield_now();
    }
    for sender in senders {
        sender.join().unwrap();
    }
}
