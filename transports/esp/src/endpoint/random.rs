//! Random numbers for nonces and first sequence numbers, from a seed of the caller. Others cannot
//! guess these numbers, and a simulation can repeat them.

use crate::machine::Identity;
use crate::seq::Seq;

/// A generator of identities.
#[derive(Clone)]
pub(super) struct Random {
    seed: [u8; 32],
    count: u64,
}

impl Random {
    pub(super) fn new(seed: [u8; 32]) -> Self {
        Self { seed, count: 0 }
    }

    /// Returns the next identity.
    pub(super) fn identity(&mut self) -> Identity {
        self.count += 1;
        let hash = blake3::keyed_hash(&self.seed, &self.count.to_be_bytes());
        let (nonce, rest) = hash.as_bytes().split_first_chunk().expect("a hash is longer");
        let (first, _) = rest.split_first_chunk().expect("a hash is longer");
        Identity { nonce: u64::from_be_bytes(*nonce), first: Seq(u32::from_be_bytes(*first)) }
    }
}
