//! The items of a stream: chunks of `goal-fabric`, whose kinds are below 16, and one item that only
//! TCP has. This item, `Bye`, is as long as the header of the shortest chunk.
//!
//! ```text
//!  0       1                                                      24
//! +-------+------------------------------------------------------+
//! |  16   |                           0                          |  Bye: the sender leaves
//! +-------+------------------------------------------------------+
//! ```

use goal_fabric::chunk::{Chunk, Malformed};
use goal_fabric::message::Broken;

/// The length in bytes of the shortest and of the longest header.
pub(crate) const HEADER_LEN_MIN: usize = Chunk::HEADER_LEN_MIN;
pub(crate) const HEADER_LEN_MAX: usize = Chunk::HEADER_LEN_MAX;

const BYE: u8 = 16;

/// The header of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item {
    /// A chunk.
    Chunk(Chunk),
    /// The sender leaves, and sends no more.
    Bye,
}

impl Item {
    /// Returns the length of the header in bytes.
    pub(crate) fn header_len(&self) -> usize {
        match self {
            Item::Chunk(chunk) => chunk.header_len(),
            Item::Bye => HEADER_LEN_MIN,
        }
    }

    /// Returns the number of bytes that follow the header.
    pub(crate) fn len(&self) -> usize {
        match self {
            Item::Chunk(chunk) => chunk.len as usize,
            Item::Bye => 0,
        }
    }

    /// Returns true if the bytes that follow may be handled piece by piece.
    pub(crate) fn comes_in_pieces(&self) -> bool {
        match self {
            Item::Chunk(chunk) => chunk.kind.comes_in_pieces(),
            Item::Bye => false,
        }
    }

    /// Returns the item for a piece of the payload: `len` bytes behind the first `before` bytes.
    pub(crate) fn piece(&self, before: usize, len: usize) -> Self {
        match *self {
            Item::Chunk(chunk) => Item::Chunk(chunk.piece(before, len)),
            Item::Bye => Item::Bye,
        }
    }

    /// Reads the header at the beginning of `bytes`. Returns `None` if the header is not complete.
    ///
    /// # Errors
    /// [`Broken`].
    pub(crate) fn parse(bytes: &[u8]) -> Result<Option<Self>, Broken> {
        if bytes.len() < HEADER_LEN_MIN {
            return Ok(None);
        }
        if bytes[0] < BYE {
            return match Chunk::parse(bytes) {
                Ok(chunk) => Ok(Some(Item::Chunk(chunk))),
                Err(Malformed::Short) if bytes.len() < HEADER_LEN_MAX => Ok(None),
                Err(malformed) => Err(Broken::Header(malformed)),
            };
        }
        match bytes[0] {
            BYE if bytes[1..HEADER_LEN_MIN] == [0; HEADER_LEN_MIN - 1] => Ok(Some(Item::Bye)),
            BYE => Err(Broken::Header(Malformed::Contradiction)),
            _ => Err(Broken::Header(Malformed::Version)),
        }
    }

    /// Writes the header to the beginning of `out`, which must have room for it.
    pub(crate) fn emit(&self, out: &mut [u8]) {
        match self {
            Item::Chunk(chunk) => chunk.emit(out),
            Item::Bye => {
                out[..HEADER_LEN_MIN].fill(0);
                out[0] = BYE;
            }
        }
    }
}
