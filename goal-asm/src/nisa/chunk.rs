//! The place of a section in a file, and verified bytes of it.

use super::error::StreamError;
use super::read_at::ReadAt;
use super::section::{Record, Section};
use super::verify::{Bounds, Verifier};
use serde::{Deserialize, Serialize};

/// The place of a section in a file, with everything that is needed to stream it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectionPlace {
    /// The offset of the section's first byte in the file.
    pub start: u64,
    /// The length of the section in bytes.
    pub length: u32,
    /// The number of actions in the section.
    pub actions: u32,
    /// The CRC-32C of the section's bytes. It was computed while the checksum of the part with all
    /// sections was compared.
    pub checksum: u32,
    /// The major version of the file's format.
    pub version: u16,
    /// The number of ranks of the group.
    pub ranks: u32,
    /// The bytes of memory that the section's actions may refer to.
    pub memory: u64,
    /// The bytes of scratch memory that the section's actions may refer to.
    pub scratch: u64,
}

impl SectionPlace {
    pub(super) fn bounds(&self) -> Bounds<'static> {
        let &Self { version, ranks, memory, scratch, actions, .. } = self;
        Bounds { version, ranks, memory, scratch, buffers: &[], actions }
    }
}

/// The limits on the memory that a [`SectionStream`](super::SectionStream) takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamLimits {
    /// The most actions that the stream has not reached yet and counts dependencies for.
    pub table_entries: usize,
    /// The most bytes of one action.
    pub action_bytes: usize,
}

/// The number of bytes that [`Chunk::of_action`] reads first. Each further read doubles the bytes.
const BLOCK_OF_ONE: usize = 1 << 10;

/// A copy of a part of a section. Only the actions that were returned with the chunk are verified;
/// the last action may be cut off.
#[derive(Debug)]
pub struct Chunk {
    pub(super) start: u32,
    pub(super) bytes: Vec<u8>,
}

impl Chunk {
    /// Reads and verifies the action at `offset` of a section without the rest of the section.
    /// Reports about a file that another process executes use it.
    ///
    /// # Errors
    /// As for [`SectionStream::next`](super::SectionStream::next).
    pub fn of_action(
        file: &dyn ReadAt,
        place: &SectionPlace,
        offset: u32,
        limits: StreamLimits,
    ) -> Result<Self, StreamError> {
        let start = place.start + u64::from(offset);
        let left = place.length.saturating_sub(offset) as usize;
        let mut bytes = Vec::new();
        loop {
            let more = BLOCK_OF_ONE.max(bytes.len()).min(left - bytes.len());
            let new = bytes.len();
            bytes.resize(new + more, 0);
            file.read_exact_at(&mut bytes[new..], start + new as u64)?;
            match Verifier::from_actions(&bytes, start, place.bounds()).parts(0) {
                Ok(_) => return Ok(Self { start: offset, bytes }),
                Err(error) if bytes.len() == left => return Err(error.into()),
                Err(error) if bytes.len() >= limits.action_bytes => {
                    return Err(StreamError::LongAction { limit: limits.action_bytes, error });
                }
                Err(_) => {}
            }
        }
    }

    /// Returns the action at `offset` of the section. The stream must have returned that action
    /// with this chunk.
    #[inline]
    pub fn record(&self, offset: u32) -> Record<'_> {
        Section::new(&self.bytes).record(offset - self.start)
    }

    /// Returns the offset in the section of the chunk's first byte.
    pub fn start(&self) -> u32 {
        self.start
    }
}
