//! The partition of ranks, by hashing: refined until the peers of equal ranks are equal.

use crate::channels::NONE;
use crate::source::{Actions, Source};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;

/// The least mean number of ranks in a class that makes it worth simulating classes.
const GAIN_MIN: usize = 4;

/// The most times that the partition is refined. Each time takes about as long as reading all
/// messages.
const ROUNDS_MAX: usize = 12;

/// The number of classes from which on doubling means that nearly all ranks differ in the end, as
/// in trees.
const QUICK_MIN: usize = 16;

/// A partition of ranks. Ranks of a class have equal actions and dependencies but for peers, and
/// peers of equal classes: unless hashes collide, which the comparison of the ranks finds.
#[derive(Debug)]
pub(super) struct Classes {
    /// By rank, its class.
    pub(super) of: Vec<u32>,
    /// By class, its first rank.
    pub(super) representatives: Vec<u32>,
}

impl Classes {
    /// Finds the classes. Returns `None` if a rank has wildcards or if classes are small.
    pub(super) fn new(source: &impl Source) -> Option<Self> {
        let mut classes = Self::by_hash(source, |rank| hash_of_actions(source, rank))?;
        for _ in 0..ROUNDS_MAX {
            // All peers of ranks in one class are in this class.
            if classes.len() == 1 {
                return Some(classes);
            }
            let finer =
                Self::by_hash(source, |rank| Some(hash_of_peers(source, rank, &classes.of)))?;
            if finer.len() == classes.len() {
                return Some(finer);
            }
            if classes.len() > QUICK_MIN && finer.len() > 2 * classes.len() {
                return None;
            }
            classes = finer;
        }
        None
    }

    /// Returns the number of classes.
    pub(super) fn len(&self) -> usize {
        self.representatives.len()
    }

    /// Puts ranks of one hash into one class. Returns `None` if a rank has no hash or if classes
    /// are small.
    fn by_hash(source: &impl Source, hash: impl Fn(u32) -> Option<u64>) -> Option<Self> {
        let ranks = source.num_ranks() as usize;
        let mut classes = Self { of: Vec::with_capacity(ranks), representatives: Vec::new() };
        let mut known: FxHashMap<u64, u32> = FxHashMap::default();
        for rank in 0..ranks as u32 {
            let class = *known.entry(hash(rank)?).or_insert(classes.len() as u32);
            if class as usize == classes.len() {
                classes.representatives.push(rank);
                if classes.len() * GAIN_MIN > ranks {
                    return None;
                }
            }
            classes.of.push(class);
        }
        Some(classes)
    }
}

/// Returns a hash of a rank's actions without peers; `None` if one is a receive with a wildcard.
fn hash_of_actions(source: &impl Source, rank: u32) -> Option<u64> {
    let mut hasher = FxHasher::default();
    hasher.write_u32(source.rank(rank).count());
    for (_, record) in source.rank(rank).records() {
        if record.has_wildcard() {
            return None;
        }
        hasher.write_u64(record.size);
        hasher.write_u64(u64::from(record.tag) << 32 | u64::from(record.missing));
        let place = u64::from(record.cpu) << 8 | u64::from(record.nic);
        hasher.write_u64(place << 8 | record.kind as u64);
    }
    Some(hasher.finish())
}

/// Returns a hash of a rank's class and the classes of its peers.
fn hash_of_peers(source: &impl Source, rank: u32, class_of: &[u32]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u32(class_of[rank as usize]);
    for (_, record) in source.rank(rank).records().filter(|(_, record)| record.is_message()) {
        hasher.write_u32(class_of.get(record.peer as usize).copied().unwrap_or(NONE));
    }
    hasher.finish()
}
