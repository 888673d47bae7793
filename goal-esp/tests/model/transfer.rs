//! Transfers, with connections that are there.

use crate::network::Network;
use goal_esp::transfer::Rules;

const RULES: Rules =
    Rules { initial_burst_length: 1, burst_length: 2, reordered_max: 2, ack_every: 8, insists_on_end: true };

fn transfers(rules: Rules) -> Network {
    Network {
        rules,
        frames_max: 3,
        writes: [&[3, 1], &[]],
        connects: [true, false],
        is_connected: true,
        closes: false,
        restarts: [0; 2],
        loses: true,
        duplicates: true,
    }
}

#[test]
fn one_way() {
    println!("{} states", transfers(RULES).explore().unwrap());
}

#[test]
fn the_thesiss_rule_gets_stuck() {
    let problem = transfers(Rules { insists_on_end: false, ..RULES }).explore().unwrap_err();
    assert!(problem.starts_with("all ends well"), "{problem}");
    println!("{problem}");
}
