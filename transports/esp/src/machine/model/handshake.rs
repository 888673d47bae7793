//! Models of the handshake that opens a connection.

use super::network::Network;
use crate::transfer::Rules;

fn handshake() -> Network {
    Network {
        rules: Rules::default(),
        start_window: 16,
        frames_max: 4,
        writes: [&[], &[]],
        connects: [true, false],
        is_connected: false,
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
fn one_end_asks() {
    println!("{} states", handshake().explore().unwrap());
}

#[test]
fn both_ends_ask() {
    println!("{} states", Network { connects: [true; 2], ..handshake() }.explore().unwrap());
}

#[test]
fn ends_say_what_they_have_to_say_late() {
    let late = Network { sends_late: true, frames_max: 3, ..handshake() };
    println!("{} states", late.clone().explore().unwrap());
    println!("{} states", Network { connects: [true; 2], ..late }.explore().unwrap());
}

#[test]
fn an_end_starts_anew() {
    println!("{} states", Network { restarts: [1, 0], ..handshake() }.explore().unwrap());
    println!("{} states", Network { restarts: [0, 1], ..handshake() }.explore().unwrap());
}
