//! The items of a stream: chunks of `goal-esp`, and two kinds that only TCP has.
//!
//! ```text
//!  0       1       2               4               8               12
//! +-------+-------+---------------+---------------+---------------+
//! | kind  |   0   |       0       | bytes to come |     name      |
//! +-------+-------+---------------+---------------+---------------+ 12
//! |       0       |            offset             |
//! +---------------+-------------------------------+ 24
//! ```
//!
//! | kind | bytes to come | name | offset | meaning |
//! |---|---|---|---|---|
//! | 1 to 9 | | | | a chunk |
//! | 16 Put | a part | of memory | place in it | bytes for memory that the receiver named |
//! | 17 Bye | 0 | 0 | 0 | the sender leaves, and sends no more |
//!
//! Integers are big-endian.

use crate::limits::PART_MAX;
use goal_esp::message::Broken;
use goal_esp::wire::{Chunk, Malformed};

/// The bytes of the shortest and the longest header.
pub(crate) const HEADER_LEN_MIN: usize = Chunk::HEADER_LEN_MIN;
pub(crate) const HEADER_LEN_MAX: usize = Chunk::HEADER_LEN_MAX;

const PUT: u8 = 16;
const BYE: u8 = 17;

/// The header of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item {
    /// A chunk.
    Chunk(Chunk),
    /// `len` bytes for the memory `name`, from `offset` on.
    Put { name: u32, offset: u64, len: u32 },
    /// The sender leaves.
    Bye,
}

impl Item {
    /// Returns the length of the header in bytes.
    pub(crate) fn header_len(&self) -> usize {
        match self {
            Item::Chunk(chunk) => chunk.header_len(),
            Item::Put { .. } | Item::Bye => HEADER_LEN_MIN,
        }
    }

    /// Returns the number of bytes that follow the header.
    pub(crate) fn len(&self) -> usize {
        match self {
            Item::Chunk(chunk) => chunk.len as usize,
            Item::Put { len, .. } => *len as usize,
            Item::Bye => 0,
        }
    }

    /// Returns true if the bytes that follow may be handled piece by piece.
    pub(crate) fn comes_in_pieces(&self) -> bool {
        match self {
            Item::Chunk(chunk) => chunk.kind.comes_in_pieces(),
            Item::Put { .. } => true,
            Item::Bye => false,
        }
    }

    /// Returns the item for `len` bytes behind the first `before`.
    pub(crate) fn piece(&self, before: usize, len: usize) -> Self {
        match *self {
            Item::Chunk(chunk) => Item::Chunk(chunk.piece(before, len)),
            Item::Put { name, offset, .. } => {
                Item::Put { name, offset: offset + before as u64, len: len as u32 }
            }
            Item::Bye => Item::Bye,
        }
    }

    /// Reads the header at the beginning of `bytes`. Returns `None` if it is not complete.
    ///
    /// # Errors
    /// [`Broken`].
    pub(crate) fn parse(bytes: &[u8]) -> Result<Option<Self>, Broken> {
        if bytes.len() < HEADER_LEN_MIN {
            return Ok(None);
        }
        if bytes[0] < PUT {
            return match Chunk::parse(bytes) {
                Ok(chunk) => Ok(Some(Item::Chunk(chunk))),
                Err(Malformed::Short) if bytes.len() < HEADER_LEN_MAX => Ok(None),
                Err(malformed) => Err(Broken::Header(malformed)),
            };
        }
        let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four"));
        let offset = u64::from_be_bytes(bytes[16..24].try_into().expect("eight"));
        let (len, name) = (word(4), word(8));
        let is_plain = bytes[1..4] == [0; 3] && word(12) == 0;
        let ends = offset.checked_add(u64::from(len)).is_some();
        match bytes[0] {
            PUT if is_plain && ends && len as usize <= PART_MAX => {
                Ok(Some(Item::Put { name, offset, len }))
            }
            BYE if is_plain && (len, name, offset) == (0, 0, 0) => Ok(Some(Item::Bye)),
            PUT | BYE => Err(Broken::Header(Malformed::Contradiction)),
            _ => Err(Broken::Header(Malformed::Version)),
        }
    }

    /// Writes the header to the beginning of `out`, which must have room for it.
    pub(crate) fn emit(&self, out: &mut [u8]) {
        let (kind, len, name, offset) = match *self {
            Item::Chunk(chunk) => return chunk.emit(out),
            Item::Put { name, offset, len } => (PUT, len, name, offset),
            Item::Bye => (BYE, 0, 0, 0),
        };
        out[..HEADER_LEN_MIN].fill(0);
        out[0] = kind;
        out[4..8].copy_from_slice(&len.to_be_bytes());
        out[8..12].copy_from_slice(&name.to_be_bytes());
        out[16..24].copy_from_slice(&offset.to_be_bytes());
    }
}
