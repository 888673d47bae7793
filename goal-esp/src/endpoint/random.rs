//! Random numbers from a seed that the caller draws: nonces and first sequence numbers need not be guessable, and repeat in a
//! simulation.

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
        let word =
            |at: usize| u32::from_be_bytes(hash.as_bytes()[at..at + 4].try_into().expect("four bytes"));
        Identity { nonce: word(0), first: Seq(word(4)) }
    }
}
