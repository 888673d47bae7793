//! Random numbers from a seed that the caller draws: nonces and first sequence numbers need not be
//! guessable, and repeat in a simulation.

use crate::machine::Identity;
use crate::seq::Seq;

/// A stream of random numbers.
#[derive(Clone)]
pub(super) struct Random {
    seed: [u8; 32],
    count: u64,
}

impl Random {
    pub(super) fn new(seed: [u8; 32]) -> Self {
        Self { seed, count: 0 }
    }

    /// An identity that nobody can guess.
    pub(super) fn identity(&mut self) -> Identity {
        self.count += 1;
        let hash = blake3::keyed_hash(&self.seed, &self.count.to_be_bytes());
        let (nonce, rest) = hash.as_bytes().split_first_chunk().expect("a hash is longer");
        let (first, _) = rest.split_first_chunk().expect("a hash is longer");
        Identity { nonce: u64::from_be_bytes(*nonce), first: Seq(u32::from_be_bytes(*first)) }
    }
}
