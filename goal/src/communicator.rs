//! Groups of ranks with a matching space of their own.

use crate::error::{Error, ErrorCode, Result};
use goal_engine::WORLD;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Some ranks of the group, numbered anew, with a matching space of their own: a message in one
/// communicator never meets a receive in another.
///
/// All of its ranks start schedules on it in the same order, as MPI's ranks call collectives on a
/// communicator.
#[derive(Debug, Clone)]
pub struct Communicator(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// The number that all of its ranks know it by.
    id: u32,
    /// The rank of this process in it.
    rank: u32,
    size: u32,
    /// The rank in the group of each of its ranks; `None` if they are the same.
    ranks: Option<Box<[u32]>>,
}

impl Communicator {
    /// The communicator of all ranks.
    pub(crate) fn world(rank: u32, size: u32) -> Self {
        Self(Arc::new(Inner { id: WORLD, rank, size, ranks: None }))
    }

    /// This process's rank.
    pub fn rank(&self) -> u32 {
        self.0.rank
    }

    /// The number of ranks.
    pub fn size(&self) -> u32 {
        self.0.size
    }

    /// The number of its matching space.
    pub(crate) fn id(&self) -> u32 {
        self.0.id
    }

    /// Returns the rank in the group of a rank of the communicator.
    pub fn in_group(&self, rank: u32) -> Option<u32> {
        match &self.0.ranks {
            None => (rank < self.0.size).then_some(rank),
            Some(ranks) => ranks.get(rank as usize).copied(),
        }
    }

    /// Returns true if the two have the same matching space.
    pub fn is_same(&self, other: &Self) -> bool {
        self.0.id == other.0.id
    }
}

/// The communicators that this process has made.
#[derive(Debug, Default)]
pub(crate) struct Communicators {
    /// For each list of ranks, the number of communicators that were made of it.
    made: FxHashMap<Box<[u32]>, u32>,
    ids: FxHashSet<u32>,
}

impl Communicators {
    /// Makes a communicator of `ranks`, which count in `parent`. Every rank in the list makes it;
    /// those that make several of the same ranks do so in the same order. No message is exchanged:
    /// its number follows from the list and from how often it was made.
    pub(crate) fn make(&mut self, parent: &Communicator, ranks: &[u32]) -> Result<Communicator> {
        let mut in_group = Vec::with_capacity(ranks.len());
        let mut own = None;
        for (number, &rank) in ranks.iter().enumerate() {
            let Some(world) = parent.in_group(rank) else {
                let size = parent.size();
                let text =
                    format!("entry {number} is rank {rank}, and the communicator has {size}");
                return Err(Error::new(ErrorCode::Rank, text));
            };
            if world == parent.in_group(parent.rank()).unwrap_or(u32::MAX) {
                own = Some(number as u32);
            }
            in_group.push(world);
        }
        let mut sorted = in_group.clone();
        sorted.sort_unstable();
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Error::new(ErrorCode::Rank, "a rank is in the list twice"));
        }
        let Some(rank) = own else {
            let text =
                "this process's own rank is not in the list: only ranks in the list may call this";
            return Err(Error::new(ErrorCode::Rank, text));
        };
        let list = in_group.into_boxed_slice();
        let made = self.made.entry(list.clone()).or_insert(0);
        let id = number_of(&list, *made);
        if id == WORLD || !self.ids.insert(id) {
            let text = "its number is that of another communicator of this process (1 in 4 billion): list the ranks in another order";
            return Err(Error::new(ErrorCode::Limit, text));
        }
        *made += 1;
        let size = list.len() as u32;
        Ok(Communicator(Arc::new(Inner { id, rank, size, ranks: Some(list) })))
    }
}

/// Returns the number of a communicator: a hash (FNV-1a, folded) of its ranks and of how many were
/// made of them before. It is the same on every machine.
fn number_of(ranks: &[u32], before: u32) -> u32 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in ranks.iter().chain([&before]).flat_map(|word| word.to_le_bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }
    (hash >> 32) as u32 ^ hash as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_agree_without_a_message() {
        let of = |rank| {
            let (world, mut made) = (Communicator::world(rank, 4), Communicators::default());
            [&[3, 1, 0][..], &[3, 1, 0], &[0, 3, 1]].map(|list| made.make(&world, list).unwrap())
        };
        let (zero, three) = (of(0), of(3));
        for (zero, three) in zero.iter().zip(&three) {
            assert!(zero.is_same(three));
            assert_eq!((zero.size(), zero.in_group(zero.rank())), (3, Some(0)));
            assert_eq!(three.in_group(three.rank()), Some(3));
        }
        assert!(!zero[0].is_same(&zero[1]) && !zero[0].is_same(&zero[2]));
    }

    #[test]
    fn lists_are_checked() {
        let (world, mut made) = (Communicator::world(1, 4), Communicators::default());
        let mut says = |ranks: &[u32]| made.make(&world, ranks).unwrap_err().to_string();
        assert_eq!(says(&[1, 4]), "entry 1 is rank 4, and the communicator has 4");
        assert_eq!(says(&[1, 2, 1]), "a rank is in the list twice");
        assert!(says(&[0, 2]).starts_with("this process's own rank is not in the list"));
        assert!(says(&[]).starts_with("this process's own rank is not in the list"));
    }

    #[test]
    fn ranks_of_ranks() {
        let (world, mut made) = (Communicator::world(2, 4), Communicators::default());
        let inner = made.make(&world, &[3, 2, 1]).unwrap();
        let pair = made.make(&inner, &[2, 1]).unwrap();
        assert_eq!((pair.rank(), pair.in_group(0), pair.in_group(1)), (1, Some(1), Some(2)));
    }
}
