//! Random numbers that repeat from a seed (SplitMix64).

/// A generator of random numbers.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Creates a generator from a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a random number of 64 bits.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Returns a random number below `bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.number()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns true with a probability of `per_million` in a million.
    pub fn happens(&mut self, per_million: u32) -> bool {
        self.below(1_000_000) < per_million.into()
    }

    /// Returns 32 random bytes, for example for an endpoint's seed.
    pub fn bytes(&mut self) -> [u8; 32] {
        let words: [[u8; 8]; 4] = std::array::from_fn(|_| self.number().to_be_bytes());
        std::array::from_fn(|at| words[at / 8][at % 8])
    }
}
