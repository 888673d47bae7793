//! Whose turn it is.
#![allow(unsafe_code)] // what an engine remembers, which whoever has the turn reaches

use super::{explore, shared};
use crate::Turn;
use crate::sync::{AtomicU32, Ordering, Shared};
use loom::thread;

/// Two ranks act for a third one, each as soon as it gets the turn: neither meets the other, and
/// each sees what the other did.
#[test]
fn one_acts_at_a_time() {
    explore("two ranks take turns", Some(3), || {
        let shared = shared((Turn::default(), Shared::<u64>::default()));
        let act = |shared: &(Turn, Shared<u64>)| {
            let (turn, state) = shared;
            while !turn.try_lock() {
                thread::yield_now();
            }
            // SAFETY: loom compares all accesses.
            unsafe { state.with_mut(|state| *state += 1) };
            turn.unlock();
        };
        let other = {
            let shared = shared.clone();
            thread::spawn(move || act(&shared))
        };
        act(&shared);
        other.join().unwrap();
        let (turn, state) = &*shared;
        assert!(turn.try_lock());
        // SAFETY: as above.
        unsafe { state.with(|state| assert_eq!(*state, 2)) };
    });
}

/// The state of an engine.
#[derive(Default)]
struct State {
    /// A message was taken that leaves something to do until there is room.
    left: bool,
    /// A message was taken that makes an action fail.
    failed: bool,
}

/// A rank with its messages and its engine.
#[derive(Default)]
struct Rank {
    turn: Turn,
    /// [`HARMLESS`] or [`FATAL`], or 0.
    message: AtomicU32,
    state: Shared<State>,
}

const HARMLESS: u32 = 1;
const FATAL: u32 = 2;

impl Rank {
    /// A poll of the engine by whoever has the turn, as `progress::node` does it.
    fn poll(&self) {
        let message = self.message.swap(0, Ordering::AcqRel);
        // SAFETY: loom compares all accesses.
        unsafe {
            self.state.with_mut(|state| {
                state.left |= message == HARMLESS;
                state.failed |= message == FATAL;
                if state.failed { self.turn.fail() } else { self.turn.set_busy(state.left) }
            });
        }
    }

    /// The rank itself polls, and goes on with something else.
    fn call(&self) {
        self.turn.reclaim();
        while !self.turn.try_lock() {
            thread::yield_now();
        }
        self.poll();
        self.turn.unlock();
        self.turn.lend();
    }

    /// Another one acts if the rank is away.
    fn help(&self) {
        if self.turn.busy_if_lent().is_some() && self.turn.try_lock() {
            if self.turn.busy_if_lent().is_some() {
                self.poll();
            }
            self.turn.unlock();
        }
    }

    /// When nobody acts and the rank is away: the word says what there is to do.
    fn is_told(&self) {
        // SAFETY: as above.
        let (left, failed) = unsafe { self.state.with(|state| (state.left, state.failed)) };
        let expected = if failed { None } else { Some(left) };
        assert_eq!(self.turn.busy_if_lent(), expected, "a poll left something, and nobody is told");
    }
}

/// A message comes for a rank that is away; the rank looks after its schedules and goes again,
/// while another one helps. Whoever takes the message, what it leaves to do is known afterwards,
/// and so is a failure.
fn whoever_takes(name: &str, message: u32) {
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
        rank.is_told();
    });
}

#[test]
fn what_a_poll_leaves_is_known() {
    whoever_takes("a rank comes and goes while another one helps", HARMLESS);
}

#[test]
fn a_failure_stays() {
    whoever_takes("a rank comes and goes while another one finds a failure", FATAL);
}

/// The same with two that help, each once.
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
        rank.is_told();
    });
}
