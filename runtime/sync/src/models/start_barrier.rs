//! Models of the start barrier and of the barrier for measurements.

use super::{explore, shared};
use crate::start_barrier::{BarrierWords, StartBarrier};
use crate::sync::{AtomicU64, Ordering, SharedCell};
use loom::thread;

/// Each rank sees behind the barrier what the other one wrote before it, twice in a row.
#[test]
fn no_rank_leaves_a_barrier_before_all_have_arrived() {
    explore("two ranks meet twice", None, || {
        let shared = shared((BarrierWords::default(), [AtomicU64::new(0), AtomicU64::new(0)]));
        let rank = |shared: &(BarrierWords, [AtomicU64; 2]), me: usize| {
            let (barrier, came) = shared;
            for round in 1..3 {
                came[me].store(round, Ordering::Relaxed);
                barrier.wait(2, thread::yield_now);
                assert!(came[1 - me].load(Ordering::Relaxed) >= round);
            }
        };
        let other = {
            let shared = shared.clone();
            thread::spawn(move || rank(&shared, 1))
        };
        rank(&shared, 0);
        other.join().unwrap();
    });
}

/// The barrier wakes the ranks that sleep at it. They see everything that was written before it
/// opened.
#[test]
#[allow(unsafe_code)]
fn the_gate_opens_for_all() {
    explore("two ranks at the barrier", None, || {
        let shared = shared((
            StartBarrier::default(),
            [SharedCell::<u64>::default(), SharedCell::default()],
        ));
        let rank = |shared: &(StartBarrier, [SharedCell<u64>; 2]), me: usize| {
            let (start_barrier, values) = shared;
            // SAFETY: loom compares all accesses.
            unsafe { values[me].with_mut(|value| *value = 7) };
            assert!(start_barrier.pass(2, || 5));
            // SAFETY: as above.
            unsafe { values[1 - me].with(|value| assert_eq!(*value, 7)) };
            assert_eq!(start_barrier.opened_ns.load(Ordering::SeqCst), 5);
        };
        let other = {
            let shared = shared.clone();
            thread::spawn(move || rank(&shared, 1))
        };
        rank(&shared, 0);
        other.join().unwrap();
    });
}

/// A rank returns from a barrier that is stopped, and the last rank to finish wakes the launcher.
#[test]
fn a_stopped_gate_lets_nobody_through_and_the_launcher_wakes() {
    explore("a rank at a barrier that is stopped", None, || {
        let start_barrier = shared(StartBarrier::default());
        let rank = {
            let start_barrier = start_barrier.clone();
            thread::spawn(move || {
                assert!(!start_barrier.pass(2, || 5));
                start_barrier.finish(1);
            })
        };
        start_barrier.stop();
        while start_barrier.finished() < 1 {
            start_barrier.wait_finished(1, std::time::Duration::MAX);
        }
        rank.join().unwrap();
    });
}
