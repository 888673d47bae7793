//! Streams whose communicator is opened late.

use super::network::Network;
use crate::transfer::Rules;

/// Two packets are sent before the first acknowledgement, so one can lie behind the first.
const RULES: Rules = Rules {
    initial_burst_length: 2,
    burst_length: 3,
    reordered_max: 1,
    ack_every: 1,
    repeats_end: true,
    answers_with_data: false,
};

/// The first end writes three packets and then one more, to an end that opens the communicator at
/// any time.
fn postponed() -> Network {
    Network {
        rules: RULES,
        start_window: 2,
        frames_max: 3,
        writes: [&[3, 1], &[]],
        connects: [true, false],
        is_connected: true,
        closes: false,
        restarts: [0; 2],
        opens_late: [false, true],
        reads_late: false,
        sends_late: false,
        loses: true,
        duplicates: true,
    }
}

#[test]
fn one_way() {
    println!("{} states", postponed().explore().unwrap());
}

#[test]
fn both_ways() {
    let network =
        Network { frames_max: 2, writes: [&[2], &[1]], opens_late: [true; 2], ..postponed() };
    println!("{} states", network.explore().unwrap());
}

#[test]
fn from_the_handshake_up_to_the_end() {
    let network = Network { frames_max: 2, is_connected: false, closes: true, ..postponed() };
    println!("{} states", network.explore().unwrap());
}

#[test]
fn with_restarts() {
    let network =
        Network { frames_max: 2, writes: [&[2], &[1]], is_connected: false, ..postponed() };
    println!("{} states", Network { restarts: [1, 0], ..network.clone() }.explore().unwrap());
    println!("{} states", Network { restarts: [0, 1], ..network }.explore().unwrap());
}
