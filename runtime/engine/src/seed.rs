//! The seeded hash function of the hash tables. It depends on secret numbers, so that an attacker
//! can't choose keys that collide.
//!
//! **Threats.** Tags, ranks and offsets come from a schedule's file, and tags of early messages
//! come from peers. If the hash function were known, their author could choose keys with equal
//! hashes. Then each look-up would walk over all of these keys. Each table therefore mixes a key
//! with numbers that are drawn when its process, or its heap, begins. The numbers decide only where
//! a key lies, never what a look-up finds, so a run has the same result with any of them.

use std::hash::{BuildHasher, Hasher};

/// The secret numbers of hash tables. The default ones are public.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Seed {
    a: u64,
    b: u64,
}

impl Seed {
    /// Creates a seed from two numbers. Peers and authors of schedules must not be able to guess
    /// them.
    pub fn new(a: u64, b: u64) -> Self {
        Self { a, b }
    }

    /// New numbers, which the standard library draws from the system.
    #[cfg(test)]
    #[expect(clippy::disallowed_types, reason = "tests draw numbers")]
    pub(crate) fn random() -> Self {
        use std::hash::RandomState;
        let random = RandomState::new();
        Self { a: random.hash_one(0u8), b: random.hash_one(1u8) }
    }

    /// Returns the hash of two words. Each word is mixed with its secret number, the two are
    /// multiplied, and the halves of the product are folded into one word (as in wyhash and
    /// foldhash). One such round would be enough for most seeds. But with some seeds, words at
    /// equal distances get hashes that are close to each other, and linear probing walks over all
    /// of them.
    #[inline(always)]
    pub(crate) fn mix(self, x: u64, y: u64) -> u64 {
        /// 2^64 divided by the golden ratio.
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        folded(folded(x ^ self.a, y ^ self.b), FACTOR)
    }
}

#[inline(always)]
fn folded(x: u64, y: u64) -> u64 {
    let product = u128::from(x) * u128::from(y);
    product as u64 ^ (product >> 64) as u64
}

/// A hasher of one key, for the tables of the standard library.
pub struct Mixed {
    seed: Seed,
    hash: u64,
}

impl BuildHasher for Seed {
    type Hasher = Mixed;

    fn build_hasher(&self) -> Mixed {
        Mixed { seed: *self, hash: 0 }
    }
}

impl Hasher for Mixed {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    fn write_u64(&mut self, word: u64) {
        self.hash = self.seed.mix(self.hash, word);
    }

    fn finish(&self) -> u64 {
        self.hash
    }
}

/// Sets of keys that are hard for some hash function, for tests of tables.
#[cfg(test)]
pub(crate) mod keys {
    /// `count` tags that collide in a table of `2 * count` places, a power of two. The place of a
    /// tag is in the bits of `(tag + offset) * factor` from bit `shift` on.
    fn colliding(count: usize, (factor, offset, shift): (u64, u64, u32)) -> Vec<u32> {
        let mask = (2 * count as u64).next_power_of_two() - 1;
        let place =
            |tag: u32| (u64::from(tag).wrapping_add(offset)).wrapping_mul(factor) >> shift & mask;
        (0..=u32::MAX).filter(|&tag| place(tag) == 0).take(count).collect()
    }

    /// Sets of `count` tags: regular ones, and those that were chosen against multiplications by
    /// known factors.
    pub(crate) fn sets(count: usize) -> Vec<Vec<u32>> {
        let numbers = || 0..count as u32;
        let shifted =
            (1..32).step_by(5).map(|bits| numbers().map(|i| i.rotate_left(bits)).collect());
        let strided = [3, 1000, 4097, 65_535]
            .map(|stride| numbers().map(|i| i.wrapping_mul(stride)).collect());
        let chosen = [
            // 2^64 divided by the golden ratio (Fibonacci hashing).
            colliding(count, (0x9e37_79b9_7f4a_7c15, 0, 32)),
            // rustc-hash: a word's hash is a multiplication and a rotation.
            colliding(count, (0xf135_7aea_2e62_a9c5, 0, 38)),
        ];
        let mut sets = vec![numbers().collect(), numbers().rev().collect()];
        sets.extend(shifted);
        sets.extend(strided);
        sets.extend(chosen);
        sets
    }
}
