//! Models of transfers.

use super::network::Network;
use crate::transfer::Rules;

const RULES: Rules = Rules {
    initial_burst_length: 1,
    burst_length: 2,
    reordered_max: 2,
    ack_every: 8,
    repeats_end: true,
    answers_with_data: false,
};

/// Every packet carries an acknowledgement.
const WITH_DATA: Rules = Rules { answers_with_data: true, ..RULES };

/// The first end writes three packets and then one more.
fn transfers(rules: Rules) -> Network {
    Network {
        rules,
        start_window: rules.burst_length,
        frames_max: 4,
        writes: [&[3, 1], &[]],
        connects: [true, false],
        is_connected: true,
        closes: false,
        restarts: [0; 2],
        reads_late: false,
        sends_late: false,
        opens_late: [false; 2],
        loses: true,
        duplicates: true,
    }
}

#[test]
fn one_way() {
    println!("{} states", transfers(RULES).explore().unwrap());
}

#[test]
fn with_an_initial_burst_in_each_transfer() {
    println!("{} states", Network { start_window: 1, ..transfers(RULES) }.explore().unwrap());
}

#[test]
fn with_larger_bursts() {
    let rules =
        Rules { initial_burst_length: 2, burst_length: 3, reordered_max: 1, ack_every: 1, ..RULES };
    let network = Network { frames_max: 3, writes: [&[1, 4], &[]], ..transfers(rules) };
    println!("{} states", network.explore().unwrap());
}

#[test]
fn with_a_receiver_that_reads_late() {
    let network = Network { frames_max: 3, reads_late: true, ..transfers(RULES) };
    println!("{} states", network.explore().unwrap());
}

#[test]
fn with_restarts() {
    let network =
        Network { frames_max: 2, writes: [&[2], &[1]], is_connected: false, ..transfers(RULES) };
    println!("{} states", Network { restarts: [1, 0], ..network.clone() }.explore().unwrap());
    println!("{} states", Network { restarts: [0, 1], ..network }.explore().unwrap());
}

#[test]
fn both_ways() {
    for rules in [RULES, WITH_DATA] {
        let network = Network { frames_max: 3, writes: [&[2, 1], &[1, 1]], ..transfers(rules) };
        println!("{} states", network.explore().unwrap());
    }
}

#[test]
fn up_to_the_end() {
    let network = Network { frames_max: 3, writes: [&[2], &[1]], closes: true, ..transfers(RULES) };
    println!("{} states", network.explore().unwrap());
}

#[test]
fn from_the_handshake_on() {
    for rules in [RULES, WITH_DATA] {
        let network = Network {
            frames_max: 3,
            writes: [&[2], &[1]],
            is_connected: false,
            ..transfers(rules)
        };
        println!("{} states", network.explore().unwrap());
    }
}

/// The deadlock of the thesis (3.2.1): the acknowledgement of the end of a transfer is lost, and
/// unacknowledged packets fill the initial burst.
#[test]
fn both_ends_get_stuck_if_the_end_is_not_repeated() {
    let problem = transfers(Rules { repeats_end: false, ..RULES }).explore().unwrap_err();
    assert!(problem.starts_with("all ends well"), "{problem}");
    assert!(problem.contains("Lose(0, Packet { from: 200, to: 100, body: Ack("), "{problem}");
}
