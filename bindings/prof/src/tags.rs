//! Maps a communicator and a tag of MPI to a tag of GOAL, and manages the numbers of communicators.
//!
//! ```text
//!  31   30 ............ bits   bits-1 ............... 0
//! +---+----------------------+--------------------------+
//! | 0 | number               | tag of MPI               |   point-to-point
//! | 1 | number               | place (8 bits) | message |   collective
//! +---+----------------------+--------------------------+
//! ```
//!
//! Two communicators with at least two common processes have different numbers. So a message of one
//! communicator never matches a receive of the other. A tag that does not fit into its bits is an
//! error, and is never shortened. The messages of a collective are numbered from 0 for each pair of
//! ranks.
//!
//! A collective has a place among the tags of its communicator until it ends, or until it is freed
//! if it is persistent. All ranks count the places in the same way. Persistent collectives use one
//! half of the places in turn, in the order of their preparation. Other collectives use the other
//! half. It is an error if the next place is still taken. So two collectives with the same place
//! never overlap, and program order keeps them apart.

use thiserror::Error;

const PLACE_BITS: u32 = 8;
/// The number of places for the collectives of a communicator.
pub(crate) const PLACES: u32 = 1 << PLACE_BITS;
/// The number of places for persistent collectives, and also for other collectives.
pub(crate) const WINDOW: u32 = PLACES / 2;
/// The bit that marks the tags of collectives.
const COLLECTIVE: u32 = 1 << 31;

/// The reason why a message can't get a tag of GOAL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TagError {
    /// The tag is too large.
    #[error(
        "tag {tag} does not fit into {bits} bits; set GOALPROF_TAG_BITS to {} on all ranks", 
        32 - .tag.leading_zeros()
    )]
    Tag {
        /// The tag.
        tag: u32,
        /// The number of bits for the tag.
        bits: u32,
    },
    /// A collective has too many messages between two ranks.
    #[error(
        "a collective has more than {most} messages between two ranks; choose an algorithm without \
         small segments (GOALPROF_BCAST and so on), or raise GOALPROF_TAG_BITS on all ranks"
    )]
    Messages {
        /// The most messages for which there are tags.
        most: u32,
    },
    /// There are too many communicators.
    #[error(
        "more than {most} communicators exist at the same time; lower GOALPROF_TAG_BITS on all \
         ranks, or free communicators"
    )]
    Communicators {
        /// The most communicators for which there are numbers.
        most: u32,
    },
}

/// The mapping of tags, for a number of bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tags {
    bits: u32,
}

impl Tags {
    /// Returns the mapping with `bits` bits for the tag of MPI, 12 to 28.
    pub(crate) fn new(bits: u32) -> Self {
        debug_assert!((12..=28).contains(&bits));
        Self { bits }
    }

    /// Returns the most communicators. It is one less than the number of bit patterns, because the
    /// last pattern would give the wildcard tag `any`.
    pub(crate) fn communicators(self) -> u32 {
        (1 << (31 - self.bits)) - 1
    }

    /// Returns the GOAL tag of a point-to-point message of a communicator.
    pub(crate) fn message(self, communicator: u32, tag: u32) -> Result<u32, TagError> {
        if tag >> self.bits != 0 {
            return Err(TagError::Tag { tag, bits: self.bits });
        }
        Ok(communicator << self.bits | tag)
    }

    /// Returns the GOAL tag of message number `message` between two ranks of a collective.
    pub(crate) fn collective(
        self,
        communicator: u32,
        place: u32,
        message: u32,
    ) -> Result<u32, TagError> {
        debug_assert!(place < PLACES);
        let most = 1 << (self.bits - PLACE_BITS);
        if message >= most {
            return Err(TagError::Messages { most });
        }
        Ok(COLLECTIVE | communicator << self.bits | place << (self.bits - PLACE_BITS) | message)
    }
}

/// A set of the numbers that communicators of this rank may get: a bit is set if the number is
/// free. The members of a new communicator combine their sets with a bitwise and, and take the
/// lowest number that is left.
#[derive(Debug, Clone)]
pub(crate) struct Ids {
    free: Vec<u64>,
}

impl Ids {
    /// Returns the set of all numbers below `most`.
    pub(crate) fn new(most: u32) -> Self {
        let mut free = vec![u64::MAX; (most as usize).div_ceil(64)];
        if let (Some(last), rest @ 1..) = (free.last_mut(), most % 64) {
            *last = (1 << rest) - 1;
        }
        Self { free }
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.free
    }

    /// Returns the lowest number of a set that members have combined.
    pub(crate) fn lowest(common: &[u64]) -> Option<u32> {
        let word = common.iter().position(|word| *word != 0)?;
        Some(word as u32 * 64 + common[word].trailing_zeros())
    }

    pub(crate) fn has(&self, id: u32) -> bool {
        self.free[id as usize / 64] & (1 << (id % 64)) != 0
    }

    pub(crate) fn take(&mut self, id: u32) {
        self.free[id as usize / 64] &= !(1 << (id % 64));
    }

    pub(crate) fn give_back(&mut self, id: u32) {
        self.free[id as usize / 64] |= 1 << (id % 64);
    }
}
