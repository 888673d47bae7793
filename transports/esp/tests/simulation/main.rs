//! Simulations of endpoints on a switch with every kind of fault, repeatable from seeds.
//!
//! A failure prints its seed and the command that replays it.

mod hostile;
mod incast;
mod processors;
mod streams;
mod tampered;

use streams::{Scenario, Streams};

#[test]
fn many_seeds() {
    (0..goal_filetest::seeds(1_000)).for_each(run);
}

/// Runs the seed in `GOAL_ESP_SEED`, or 0.
#[test]
fn one_seed() {
    let seed = std::env::var("GOAL_ESP_SEED");
    run(seed.map_or(0, |text| text.parse().expect("GOAL_ESP_SEED is a number")));
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
