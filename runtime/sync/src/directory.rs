//! Tells which communicator uses which set of boards. Set `k` is board `k` of each rank.
//!
//! Communicators are made without a message, and their ranks come here at different times. Still
//! all ranks of a communicator get one answer, and nobody waits for another rank.
//!
//! ```text
//! sets     16 lines | owner u64 | bases, short and long | ends, short and long | left u64 |
//! entries  65536    | number of a communicator, bits 8.. | its set, or none, bits 0..8 |
//! ```
//!
//! **Decisions.** The entries are a hash table that only fills. The first rank of a communicator
//! writes an entry with a decision, which is a free set or none. The other ranks find this entry.
//! A rank that finds neither an entry nor room for one gets no set. Its peers find none either,
//! because no entry ever changes again.
//!
//! **Claims.** A rank claims a free set before it writes an entry. If another rank was first with
//! the entry, it gives the set back. Ranks of one communicator share a claim.
//!
//! **Ends.** A rank that frees its communicator tells the positions behind its last messages, and
//! counts. The last rank frees the set. The next owner begins at the greatest of these positions.
//! So a word of an earlier owner has a lower position than any message that the next owner awaits.
//!
//! Threat: a process that an attacker controls may write anything here. A set is always below
//! [`SETS`], and a position below `POSITIONS`. Two communicators may get one set then, and their
//! runs fail or have wrong results.
#![allow(unsafe_code)] // only `unsafe impl SharedWords`

use super::shared_words::SharedWords;
use super::sync::{AtomicU64, Line, Ordering};

/// The number of sets of boards. Models have two.
pub const SETS: usize = if cfg!(loom) { 2 } else { 16 };
/// The set of the communicator of all ranks that the job started with. Others never get it.
pub const FIRST: usize = 0;
/// The number of entries, a power of two.
const ENTRIES: usize = if cfg!(loom) { 4 } else { 1 << 16 };
/// The most entries that a rank looks at.
const LOOKS_MAX: usize = if cfg!(loom) { 4 } else { 1 << 10 };
/// The lowest bit of a communicator's number in an entry.
const NUMBER_SHIFT: u32 = 8;
/// Positions are below this number, as in the words of cells.
const POSITIONS: u64 = 1 << 48;
/// The set in an entry of a communicator that has none.
const NONE: u64 = (1 << NUMBER_SHIFT) - 1;

/// The words of a directory. A new directory is all zeros.
#[derive(Debug)]
#[repr(C)]
pub struct Words {
    sets: [Line<Set>; SETS],
    entries: [AtomicU64; ENTRIES],
}

#[derive(Debug, Default)]
#[repr(C)]
struct Set {
    /// The number of the communicator that uses the set; 0 if none does.
    owner: AtomicU64,
    /// The first positions of the owner in each ring.
    bases: [AtomicU64; 2],
    /// The greatest positions of ranks that have left.
    ends: [AtomicU64; 2],
    /// The number of the owner's ranks that have left.
    left: AtomicU64,
}

impl Default for Words {
    fn default() -> Self {
        let zero = |_| AtomicU64::new(0);
        Self { sets: Default::default(), entries: std::array::from_fn(zero) }
    }
}

// SAFETY: repr(C), atomics only, aligned to 64.
unsafe impl SharedWords for Words {}

/// A set of boards that a communicator uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The number of the set, below [`SETS`].
    pub set: usize,
    /// The first positions of the communicator in each ring.
    pub bases: [u64; 2],
}

/// A view of a directory.
#[derive(Debug, Clone, Copy)]
pub struct Directory<'a>(&'a Words);

/// A set that a rank may name in an entry.
#[derive(Clone, Copy)]
struct Claim {
    set: usize,
    /// True if this call has claimed the set, so that it gives the set back if need be.
    is_new: bool,
}

impl<'a> Directory<'a> {
    /// Creates a view over these words.
    pub fn new(words: &'a Words) -> Self {
        Self(words)
    }

    /// Returns the boards of the communicator with this number; `None` if it has none. All its
    /// ranks get the same answer. `number` is neither 0 nor above 2^48.
    pub fn place_of(&self, number: u64) -> Option<Place> {
        debug_assert!(number != 0 && number < 1 << 48);
        let mut claim = None;
        let set = self.decision(number, &mut claim);
        if let Some(Claim { set: claimed, is_new: true }) = claim.flatten()
            && set != Some(claimed)
        {
            // Release: the next owner sees what this rank has seen of the owner before.
            self.set(claimed).owner.store(0, Ordering::Release);
        }
        // The bases stay as they are until all ranks have left, and this one has not.
        let base = |base: &AtomicU64| base.load(Ordering::Relaxed) % POSITIONS;
        let bases = |set| self.set(set).bases.each_ref().map(base);
        set.map(|set| Place { set, bases: bases(set) })
    }

    /// Finds or writes the entry of a communicator. `claim` becomes the set for a new entry.
    fn decision(&self, number: u64, claim: &mut Option<Option<Claim>>) -> Option<usize> {
        let first = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - ENTRIES.ilog2());
        for at in 0..LOOKS_MAX {
            let entry = &self.0.entries[(first as usize + at) % ENTRIES];
            // Acquire: pairs with the exchange of the rank that claimed the set.
            let mut found = entry.load(Ordering::Acquire);
            if found == 0 {
                let claim = claim.get_or_insert_with(|| self.claim(number));
                let set = claim.map_or(NONE, |claim| claim.set as u64);
                let own = number << NUMBER_SHIFT | set;
                let swapped = entry.compare_exchange(0, own, Ordering::AcqRel, Ordering::Acquire);
                found = swapped.map_or_else(|found| found, |_| own);
            }
            if found >> NUMBER_SHIFT == number {
                let set = (found & NONE) as usize;
                // Another owner means that all ranks of a communicator with this number have left.
                // Relaxed: the entry was written after the claim, and this rank has not left.
                let is_own = |set| self.set(set).owner.load(Ordering::Relaxed) == number;
                return ((FIRST + 1..SETS).contains(&set) && is_own(set)).then_some(set);
            }
        }
        None
    }

    /// Claims a free set, or shares the claim of another rank of the communicator.
    fn claim(&self, number: u64) -> Option<Claim> {
        (FIRST + 1..SETS).find_map(|set| {
            // Acquire: pairs with the Release store of the last rank that left the set, also
            // through the exchange of another rank of this communicator.
            let owner = &self.set(set).owner;
            let claimed = owner.compare_exchange(0, number, Ordering::AcqRel, Ordering::Acquire);
            match claimed {
                Ok(_) => Some(Claim { set, is_new: true }),
                Err(found) => (found == number).then_some(Claim { set, is_new: false }),
            }
        })
    }

    /// Frees a set for a rank of its owner, which has `ranks` ranks. The rank has ended all its
    /// runs there before the positions `ends`. Each rank calls this once.
    pub fn leave(&self, set: usize, ranks: u64, ends: [u64; 2]) {
        let set = self.set(set);
        for (greatest, end) in set.ends.iter().zip(ends) {
            greatest.fetch_max(end, Ordering::Relaxed);
        }
        // AcqRel: the last rank sees the positions of all others. Their reads of boards happen
        // before the next owner writes.
        if set.left.fetch_add(1, Ordering::AcqRel) + 1 < ranks {
            return;
        }
        set.left.store(0, Ordering::Relaxed);
        for (base, end) in set.bases.iter().zip(&set.ends) {
            base.store(end.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        // Release: pairs with the loads in `claim`.
        set.owner.store(0, Ordering::Release);
    }

    fn set(&self, set: usize) -> &'a Set {
        &self.0.sets[set].0
    }
}
