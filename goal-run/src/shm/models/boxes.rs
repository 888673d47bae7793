//! The mailbox: laps, room, and a receiver that sleeps.

use super::{explore, shared};
use crate::shm::mailbox::{Control, Mailbox, Payload, Slot};
use loom::thread;

/// A mailbox of two slots, the smallest in which a lap means something.
#[derive(Default)]
struct Allocated {
    control: Control,
    slots: [Slot; 2],
}

impl Allocated {
    fn mailbox(&self) -> Mailbox<'_> {
        Mailbox::new(&self.control, &self.slots)
    }

    /// Puts message `number` of `sender`; false if there is no room.
    fn put(&self, sender: u64, number: u64) -> bool {
        let header = [sender, number, 0, 0, 0, 0];
        self.mailbox().put(&header, 1, |payload| payload[0] = number as u8 + 1).is_ok()
    }

    /// Takes a message, whose sender must not have sent an earlier one that is still to come: `next` counts them.
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
            thread::spawn(move || (0..5).take_while(|&number| allocated.put(0, number)).count() as u64)
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

/// A receiver that sleeps whenever it finds nothing gets everything: no sender misses that it sleeps.
#[test]
fn a_sleeper_is_woken() {
    explore("two senders, 1 message each, a receiver that sleeps", None, || {
        let allocated = shared(Allocated::default());
        let senders: Vec<_> = (0..2)
            .map(|sender| {
                let allocated = allocated.clone();
                thread::spawn(move || assert!(allocated.put(sender, 0)))
            })
            .collect();
        let mut next = [0; 2];
        while next != [1, 1] {
            if !allocated.take(&mut next) {
                if allocated.mailbox().arm() {
                    allocated.mailbox().wait(None);
                }
                // It may return because a message is coming.
                thread::yield_now();
            }
        }
        for sender in senders {
            sender.join().unwrap();
        }
    });
}

/// One who stops the job wakes a sleeper too, whatever it is doing.
#[test]
fn a_sleeper_is_woken_without_a_message() {
    use crate::shm::sync::{AtomicU32, Ordering};
    explore("a receiver that sleeps until it is stopped", None, || {
        let shared = shared((Allocated::default(), AtomicU32::new(0)));
        let receiver = {
            let shared = shared.clone();
            thread::spawn(move || {
                let (allocated, stopped) = &*shared;
                while stopped.load(Ordering::SeqCst) == 0 {
                    if allocated.mailbox().arm() {
                        allocated.mailbox().wait(None);
                    }
                    thread::yield_now();
                }
            })
        };
        let (allocated, stopped) = &*shared;
        stopped.store(1, Ordering::SeqCst);
        // As the launcher does: until the rank has ended.
        while !receiver.is_finished() {
            allocated.mailbox().wake();
            thread::yield_now();
        }
        receiver.join().unwrap();
    });
}
