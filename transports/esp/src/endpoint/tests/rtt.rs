//! Retransmission timeouts.

use super::super::rtt::{Lag, Rtt};
use crate::endpoint::Timing;

#[test]
fn settles_on_what_is_measured() {
    let timing = Timing::default();
    let mut rtt = Rtt::default();
    assert_eq!(rtt.timeout_ns(&timing, 0, 0), timing.retransmit_initial_ns);
    for _ in 0..200 {
        rtt.measure(4_000_000);
    }
    assert_eq!(rtt.smoothed_ns().unwrap() / 10_000, 400);
    assert!((4_000_000..4_300_000).contains(&rtt.timeout_ns(&timing, 0, 0)));
    assert!(rtt.timeout_ns(&timing, 0, 1) >= 8_000_000);
    assert_eq!(rtt.timeout_ns(&timing, 0, 60), timing.retransmit_patient_ns);
}

#[test]
fn timeouts_grow_while_no_answer_comes() {
    let timing = Timing { retransmit_max_ns: 20_000_000, ..Timing::default() };
    let rtt = Rtt::default();
    let times_ms: Vec<u64> = (0..12).map(|n| rtt.timeout_ns(&timing, 0, n) / 1_000_000).collect();
    assert_eq!(times_ms, [10, 20, 20, 20, 20, 20, 40, 80, 160, 320, 640, 1000]);
}

#[test]
fn nothing_is_said_again_before_a_round_trip_has_passed() {
    let timing = Timing { retransmit_max_ns: 20_000_000, ..Timing::default() };
    let mut rtt = Rtt::default();
    rtt.measure(3_000_000_000);
    assert!((0..20).all(|n| rtt.timeout_ns(&timing, 0, n) > 3_000_000_000));
}

#[test]
fn peers_that_answer_late_are_asked_again_later() {
    let timing = Timing { retransmit_max_ns: 20_000_000, ..Timing::default() };
    let mut lag = Lag::default();
    lag.note(&timing, 300_000_000);
    let times_ms = |lag: Lag| {
        [0, 3, 5, 9].map(|n| Rtt::default().timeout_ns(&timing, lag.ns(), n) / 1_000_000)
    };
    assert_eq!(times_ms(lag), [300, 300, 300, 320]);
    (0..50).for_each(|_| lag.note(&timing, 1_000_000));
    assert_eq!(times_ms(lag), [10, 20, 20, 320]);
    // The limit is the timeout of a peer that was asked again and again.
    (0..50).for_each(|_| lag.note(&timing, 60_000_000_000));
    assert!(times_ms(lag).iter().all(|times_ms| (990..=1000).contains(times_ms)));
}
