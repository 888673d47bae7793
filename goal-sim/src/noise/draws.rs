//! Random numbers that depend on their purpose alone. So no order of calls matters.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The purpose of a random number.
#[derive(Debug, Clone, Copy)]
#[repr(u64)]
pub(crate) enum Purpose {
    /// The beginning of a trace.
    Offset,
    Computation,
    Latency,
    Sending,
    Receiving,
}

/// The random numbers of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Draws {
    key: u64,
}

impl Draws {
    pub(crate) fn new(seed: u64, run: u64) -> Self {
        Self { key: mix(mix(0, seed), run) }
    }

    /// Returns a generator of random numbers for a purpose and four further numbers. It depends on
    /// nothing else.
    pub(crate) fn of(self, purpose: Purpose, about: [u32; 4]) -> SplitMix64 {
        SplitMix64::seed_from_u64(self.number(purpose, about))
    }

    /// Returns a random number as [`of`](Self::of) returns a generator.
    pub(crate) fn number(self, purpose: Purpose, about: [u32; 4]) -> u64 {
        let [first, second, third, fourth] = about.map(u64::from);
        let key = mix(mix(self.key, purpose as u64), (first << 32) | second);
        mix(key, (third << 32) | fourth)
    }
}

/// Returns a number that all bits of both arguments change.
fn mix(key: u64, word: u64) -> u64 {
    SplitMix64::seed_from_u64(key ^ word).next_u64()
}
