//! Whose turn it is.

use super::{explore, shared};
use crate::shm::Turn;
use crate::shm::sync::Shared;
use loom::thread;

/// Two ranks act for a third one, each as soon as it gets the turn: neither meets the other, and each sees what the other did.
#[test]
#[allow(unsafe_code)]
fn one_acts_at_a_time() {
    explore("two ranks take turns", Some(3), || {
        let shared = shared((Turn::default(), Shared::<u64>::default()));
        let act = |shared: &(Turn, Shared<u64>)| {
            let (turn, state) = shared;
            while !turn.take() {
                thread::yield_now();
            }
            // SAFETY: loom compares all accesses.
            unsafe { state.with_mut(|state| *state += 1) };
            turn.give();
        };
        let other = {
            let shared = shared.clone();
            thread::spawn(move || act(&shared))
        };
        act(&shared);
        other.join().unwrap();
        let (turn, state) = &*shared;
        assert!(turn.take());
        // SAFETY: as above.
        unsafe { state.with(|state| assert_eq!(*state, 2)) };
    });
}

/// A rank that goes with something left to do: who sees that finds what it left, and a rank that is back stays so.
#[test]
#[allow(unsafe_code)]
fn what_a_rank_leaves_is_found() {
    explore("a rank goes and comes while another one looks", None, || {
        let shared = shared((Turn::default(), Shared::<u64>::default()));
        let rank = {
            let shared = shared.clone();
            thread::spawn(move || {
                let (turn, state) = &*shared;
                assert!(turn.take(), "nobody looks before the rank is away");
                // SAFETY: loom compares all accesses.
                unsafe { state.with_mut(|state| *state = 7) };
                turn.go(true);
                turn.give();
                turn.come();
            })
        };
        let (turn, state) = &*shared;
        if turn.is_away() == Some(true) && turn.take() {
            // SAFETY: as above.
            unsafe { state.with(|state| assert_eq!(*state, 7)) };
            turn.leave(false);
            turn.give();
        }
        rank.join().unwrap();
        assert_eq!(turn.is_away(), None);
    });
}
