//! Tests the marks of ranks that need help, and the sleepers that a mark wakes.

use crate::helpers::{Helpers, Marks};

/// Marks `rank`, which needs help. Returns the ranks that were asked to wake up. Those `armed` do.
fn mark(helpers: Helpers<'_>, rank: u32, armed: &[u32]) -> Vec<u32> {
    let mut asked = Vec::new();
    let wake = |sleeper: u32| {
        asked.push(sleeper);
        armed.contains(&sleeper)
    };
    helpers.mark(rank, || true, wake);
    asked
}

#[test]
fn a_sleeper_that_was_not_armed_is_woken_for_the_next_mark() {
    let (needing, sleeping) = ([Marks::default()], [Marks::default()]);
    let helpers = Helpers::new(&needing, &sleeping);
    helpers.enter(3);
    assert_eq!(mark(helpers, 70, &[]), [3]);
    // Another rank helps before the sleeper looks for marks, so it sleeps.
    helpers.unmark(70, || false);
    assert_eq!(mark(helpers, 71, &[3]), [3]);
    helpers.leave(3);
    assert!(mark(helpers, 72, &[3]).is_empty());
}

#[test]
fn one_armed_sleeper_is_woken() {
    let (needing, sleeping) = ([Marks::default()], [Marks::default()]);
    let helpers = Helpers::new(&needing, &sleeping);
    [2, 130, 400].iter().for_each(|&rank| helpers.enter(rank));
    assert_eq!(mark(helpers, 0, &[130, 400]), [2, 130]);
    assert_eq!(mark(helpers, 1, &[400]), [2, 130, 400]);
    assert_eq!(helpers.marked().collect::<Vec<_>>(), [0, 1]);
}
