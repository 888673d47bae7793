//! Limits on the time for which a test waits for an event.

use std::env::{self, VarError};
use std::thread;
use std::time::{Duration, Instant};

/// The time between two checks of what a test waits for.
const PAUSE: Duration = Duration::from_millis(5);
/// The seconds after which [`until`] fails, as for [`patience`].
const UNTIL_SECONDS: u64 = 60;

/// Returns how long a test waits for an event before it fails. It is `seconds` seconds, times the
/// factor in the environment variable `GOAL_TEST_PATIENCE` if that is set. The factor is a positive
/// number.
///
/// # Panics
///
/// If `GOAL_TEST_PATIENCE` is not such a factor.
pub fn patience(seconds: u64) -> Duration {
    let factor = match env::var("GOAL_TEST_PATIENCE") {
        Ok(text) => factor(&text).expect("GOAL_TEST_PATIENCE is a positive number"),
        Err(VarError::NotPresent) => 1.0,
        Err(error) => panic!("GOAL_TEST_PATIENCE: {error}"),
    };
    let patience = Duration::try_from_secs_f64(seconds as f64 * factor);
    patience.expect("GOAL_TEST_PATIENCE is not too large")
}

/// Returns [`patience`] as the argument of an option such as `--timeout`.
///
/// # Panics
///
/// As [`patience`].
pub fn timeout(seconds: u64) -> String {
    patience(seconds).as_secs_f64().to_string()
}

/// Waits until `holds` returns true.
///
/// # Panics
///
/// If `holds` still returns false after the [`patience`] of 60 seconds. The message contains
/// `what`.
#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let (since, limit) = (Instant::now(), patience(UNTIL_SECONDS));
    while !holds() {
        assert!(since.elapsed() < limit, "not within {limit:?}: {what}");
        thread::sleep(PAUSE);
    }
}

fn factor(text: &str) -> Option<f64> {
    text.parse().ok().filter(|factor: &f64| factor.is_finite() && *factor > 0.0)
}

#[test]
fn factors_are_positive_numbers() {
    assert_eq!(factor("1"), Some(1.0));
    assert_eq!(factor("0.5"), Some(0.5));
    for text in ["", "0", "-1", "inf", "NaN", "much"] {
        assert_eq!(factor(text), None, "{text}");
    }
}

#[test]
fn until_looks_again() {
    let mut looks = 0;
    until("three looks", || {
        looks += 1;
        looks == 3
    });
    assert_eq!(looks, 3);
}
