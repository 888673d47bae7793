//! Models of the lock of a process that acts for a rank, and of ranks that sleep while others need
//! help.
#![allow(unsafe_code)] // the state of an engine, which the holder of the lock accesses

use super::mailbox::Allocated;
use super::{explore, shared};
use crate::helpers::{Helpers, Marks};
use crate::sync::{AtomicU32, Ordering, SharedCell};
use crate::turn::{HeldTurn, Turn};
use loom::thread;

/// Locks a turn, however long it takes.
fn lock(turn: &Turn) -> HeldTurn<'_> {
    loop {
        match turn.try_lock() {
            Some(held) => return held,
            None => thread::yield_now(),
        }
    }
}

/// Two ranks act for a third one, each as soon as it gets the lock. Their accesses don't overlap,
/// and each sees what the other did.
#[test]
fn one_acts_at_a_time() {
    explore("two ranks take turns", Some(3), || {
        let shared = shared((Turn::default(), SharedCell::<u64>::default()));
        let act = |shared: &(Turn, SharedCell<u64>)| {
            let (turn, state) = shared;
            let held = lock(turn);
            // SAFETY: loom compares all accesses.
            unsafe { state.with_mut(|state| *state += 1) };
            held.unlock();
        };
        let other = {
            let shared = shared.clone();
            thread::spawn(move || act(&shared))
        };
        act(&shared);
        other.join().unwrap();
        let (turn, state) = &*shared;
        assert!(turn.try_lock().is_some());
        // SAFETY: as above.
        unsafe { state.with(|state| assert_eq!(*state, 2)) };
    });
}

/// The state of an engine.
#[derive(Default)]
struct State {
    /// A message was taken that leaves work for later polls.
    left: bool,
    /// A message was taken that made an action fail.
    failed: bool,
}

/// A rank with its messages and its engine.
#[derive(Default)]
struct Rank {
    turn: Turn,
    /// [`HARMLESS`] or [`FATAL`], or 0.
    message: AtomicU32,
    state: SharedCell<State>,
}

const HARMLESS: u32 = 1;
const FATAL: u32 = 2;

impl Rank {
    /// Polls the engine, as `progress::node` of goal-run does.
    fn poll(&self, held: &HeldTurn<'_>) {
        let message = self.message.swap(0, Ordering::AcqRel);
        // SAFETY: loom compares all accesses.
        unsafe {
            self.state.with_mut(|state| {
                state.left |= message == HARMLESS;
                state.failed |= message == FATAL;
                if state.failed { held.fail() } else { held.set_busy(state.left) }
            });
        }
    }

    /// The rank itself polls, and lends itself again.
    fn call(&self) {
        self.turn.reclaim();
        let held = lock(&self.turn);
        self.poll(&held);
        held.unlock();
        self.turn.lend();
    }

    /// Another rank acts if this one is lent.
    fn help(&self) {
        if self.turn.busy_if_lent().is_some()
            && let Some(held) = self.turn.try_lock()
        {
            if self.turn.busy_if_lent().is_some() {
                self.poll(&held);
            }
            held.unlock();
        }
    }

    /// Checks, while nobody acts and the rank is lent, that the bits describe what the last poll
    /// left.
    fn check(&self) {
        // SAFETY: as above.
        let (left, failed) = unsafe { self.state.with(|state| (state.left, state.failed)) };
        let expected = if failed { None } else { Some(left) };
        assert_eq!(self.turn.busy_if_lent(), expected, "a poll left work, and no bit says so");
    }
}

/// A message arrives for a rank that is lent. The rank reclaims itself, polls and lends itself
/// again while another rank helps. Whichever rank takes the message, the bits then say if work is
/// left and if an action has failed.
fn one_takes(name: &str, message: u32) {
    explore(name, None, move || {
        let rank = shared(Rank::default());
        rank.call();
        let helper = {
            let rank = rank.clone();
            thread::spawn(move || {
                rank.message.store(message, Ordering::Release);
                rank.help();
                rank.help();
            })
        };
        rank.call();
        helper.join().unwrap();
        rank.check();
    });
}

#[test]
fn the_bits_say_what_a_poll_left() {
    one_takes("a rank comes and goes while another one helps", HARMLESS);
}

#[test]
fn a_failure_stays() {
    one_takes("a rank comes and goes while another one finds a failure", FATAL);
}

/// A message arrives for a rank that is lent, and two other ranks help it, once each. The bits then
/// say what the last poll left.
#[test]
fn two_help() {
    explore("a rank comes and goes while two help", Some(3), || {
        let rank = shared(Rank::default());
        rank.call();
        let helpers = [HARMLESS, 0].map(|message| {
            let rank = rank.clone();
            thread::spawn(move || {
                if message != 0 {
                    rank.message.store(message, Ordering::Release);
                }
                rank.help();
            })
        });
        rank.call();
        for helper in helpers {
            helper.join().unwrap();
        }
        rank.check();
    });
}

/// Rank 0, which is lent, and rank 1, which acts for it or sleeps.
#[derive(Default)]
struct Node {
    lent: Turn,
    /// True if rank 0 has a message.
    message: AtomicU32,
    needing: [Marks; 1],
    sleeping: [Marks; 1],
    sleeper: Allocated,
}

impl Node {
    fn helpers(&self) -> Helpers<'_> {
        Helpers::new(&self.needing, &self.sleeping)
    }

    fn needs_help(&self) -> bool {
        let busy = self.lent.busy_if_lent();
        busy.is_some_and(|busy| busy || self.message.load(Ordering::Relaxed) != 0)
    }

    fn mark(&self) {
        self.helpers().mark(0, || self.needs_help(), |_| self.sleeper.mailbox().wake());
    }
}

/// A message arrives for rank 0, which lends itself, while rank 1 goes to sleep. Rank 1 sees the
/// mark or is woken: loom fails a model in which a thread sleeps for ever. The model fails without
/// any one of the fences in `mark`, `wake_one` and `fence` of [`Helpers`].
#[test]
fn no_rank_sleeps_while_another_one_needs_help() {
    explore("a message for a lent rank, and one that goes to sleep", Some(3), || {
        let node = shared(Node::default());
        let sender = {
            let node = node.clone();
            thread::spawn(move || {
                node.message.store(1, Ordering::Relaxed);
                node.mark();
            })
        };
        let lender = {
            let node = node.clone();
            thread::spawn(move || {
                node.lent.lend();
                node.mark();
            })
        };
        let is_marked = || node.helpers().marked().next().is_some();
        while !is_marked() {
            let mailbox = node.sleeper.mailbox();
            node.helpers().enter(1);
            assert!(mailbox.arm());
            node.helpers().fence();
            if is_marked() {
                mailbox.disarm();
            } else {
                mailbox.wait(None);
            }
            node.helpers().leave(1);
            thread::yield_now();
        }
        sender.join().unwrap();
        lender.join().unwrap();
    });
}

/// A helper removes the mark of a rank whose message it has taken, while the next message arrives.
/// That message leaves a mark. The model fails without the fence in `unmark`.
#[test]
fn a_mark_stays_while_there_is_a_message() {
    explore("a mark is removed while a message arrives", None, || {
        let node = shared(Node::default());
        node.lent.lend();
        node.helpers().mark(0, || true, |_| true);
        let sender = {
            let node = node.clone();
            thread::spawn(move || {
                node.message.store(1, Ordering::Relaxed);
                node.helpers().mark(0, || node.needs_help(), |_| true);
            })
        };
        node.helpers().unmark(0, || node.needs_help());
        sender.join().unwrap();
        assert_eq!(node.helpers().marked().next(), Some(0));
    });
}
