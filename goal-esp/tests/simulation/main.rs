//! Simulations of endpoints on a switch with every kind of fault, repeatable from seeds.
//!
//! A failure prints its seed and the command that replays it.

mod hostile;
mod incast;
mod processors;
mod streams;
mod tampered;

use streams::{Scenario, Streams};

/// The number of seeds unless `GOAL_ESP_SEEDS` says otherwise.
const SEEDS: u64 = 4_000;

#[test]
fn many_seeds() {
    (0..from_environment("GOAL_ESP_SEEDS", SEEDS)).for_each(run);
}

/// Runs the seed in `GOAL_ESP_SEED`, or 0.
#[test]
fn one_seed() {
    run(from_environment("GOAL_ESP_SEED", 0));
}

fn from_environment(name: &str, otherwise: u64) -> u64 {
    std::env::var(name)
        .map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name} is no number")))
}

fn run(seed: u64) {
    let scenario = Scenario::random(seed);
    if let Err(problem) = Streams::new(seed, &scenario).run() {
        panic!(
            "seed {seed}: {problem}\n{scenario:#?}\nreplay it with:\n  \
             GOAL_ESP_SEED={seed} cargo test -p goal-esp --test simulation one_seed"
        );
    }
}
