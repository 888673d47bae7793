//! Tests the set of ranks that nap.

use crate::helpers::Marks;
use crate::napping::{Fences, Napping};

/// Returns the ranks that a writer wakes.
fn woken(napping: Napping<'_>, readers: u64) -> Vec<u32> {
    let mut woken = Vec::new();
    Napping::wake(napping.sleepers(readers), |rank| woken.push(rank));
    woken
}

#[test]
fn readers_that_nap_are_woken_and_nobody_else() {
    let marks = [Marks::default(), Marks::default()];
    for fences in [Fences::Full, Fences::choose(false), Fences::Unordered] {
        let napping = Napping::new(&marks, fences);
        // Ranks beyond the first word, and beyond the first line.
        let entered = [0, 5, 63, 64, 600].map(|rank| napping.enter(rank));
        assert_eq!(entered, [fences != Fences::Unordered; 5]);
        assert_eq!(woken(napping, 0b10_0010), [5]);
        assert_eq!(woken(napping, u64::MAX), [0, 5, 63]);
        assert!(woken(napping, 0b11000).is_empty());
        [0, 5, 63, 64, 600, 7].iter().for_each(|&rank| napping.leave(rank));
        assert!(woken(napping, u64::MAX).is_empty());
    }
}

/// The processes of a crowded host must not differ, because their readers call no `membarrier`.
#[test]
fn ranks_that_share_processors_use_full_fences() {
    assert_eq!(Fences::choose(true), Fences::Full);
    assert_eq!(Fences::default(), Fences::Unordered, "a process that has not registered");
}
