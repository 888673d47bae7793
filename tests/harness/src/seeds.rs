//! Chooses the number of random cases in a test.

use std::env::{self, VarError};

/// Returns the number of random cases that a test runs. It is `count` times the factor in the
/// environment variable `GOAL_SEEDS`, or `count` if that is not set. The factor is a whole number
/// of at least 1. Many tests demand that a part of their cases has a certain property. They fail if
/// there are fewer cases than `count`.
///
/// # Panics
///
/// If `GOAL_SEEDS` is no such factor.
pub fn seeds(count: u64) -> u64 {
    match env::var("GOAL_SEEDS") {
        Ok(text) => count * factor(&text).expect("GOAL_SEEDS is a whole number of at least 1"),
        Err(VarError::NotPresent) => count,
        Err(error) => panic!("GOAL_SEEDS: {error}"),
    }
}

fn factor(text: &str) -> Option<u64> {
    text.parse().ok().filter(|&factor| factor > 0)
}

#[test]
fn factors_are_whole_and_not_zero() {
    assert_eq!(factor("1"), Some(1));
    assert_eq!(factor("4"), Some(4));
    for text in ["", "0", "-1", "0.5", "many"] {
        assert_eq!(factor(text), None, "{text}");
    }
}
