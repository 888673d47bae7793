//! The secret numbers of this process for hash tables.

use goal_engine::Seed;
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// The numbers, which the standard library draws from the system.
pub(crate) fn seed() -> Seed {
    static SEED: OnceLock<Seed> = OnceLock::new();
    *SEED.get_or_init(|| {
        let random = RandomState::new();
        Seed::new(random.hash_one(0u8), random.hash_one(1u8))
    })
}
