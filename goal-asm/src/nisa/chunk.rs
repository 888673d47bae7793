//! The place of a section in a file, and verified bytes of it.

use super::error::StreamError;
use super::read_at::ReadAt;
use super::section::{Record, Section};
use super::verify::{Bounds, Verifier};
use serde::{Deserialize, Serialize};

/// The place of a section in a file, with everything that is needed to stream it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectionPlace {
    /// Its first byte in the file.
    pub start: u64,
    /// Bytes.
    pub length: u32,
    /// Number of actions.
    pub actions: u32,
    /// CRC-32C of its bytes, computed when the checksum of the part that holds it was compared.
    pub checksum: u32,
    /// Format version of the file.
    pub version: u16,
    /// Ranks of the group.
    pub ranks: u32,
    /// Bytes of memory that its actions may refer to.
    pub memory: u64,
    /// Bytes of scratch memory that they may refer to.
    pub scratch: u64,
}

impl SectionPlace {
    pub(super) fn bounds(&self) -> Bounds<'static> {
        let &Self { version, ranks, memory, scratch, actions, .. } = self;
        Bounds { version, ranks, memory, scratch, buffers: &[], actions }
    }
}

/// The limits on the memory of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamLimits {
    /// Most actions that dependencies are counted for before the stream reaches them.
    pub table_entries: usize,
    /// Most bytes of one action.
    pub action_bytes: usize,
}

/// Bytes that are read for one action.
const BLOCK_OF_ONE: usize = 1 << 10;

/// Bytes of a section that were verified, whole actions only.
#[derive(Debug)]
pub struct Chunk {
    pub(super) start: u32,
    pub(super) bytes: Vec<u8>,
}

impl Chunk {
    /// Reads and verifies the action at `offset` of a section by itself, for reports on a file that
    /// another process executes.
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

    /// The action at `offset` of the section. The stream must have returned it with this chunk.
    #[inline]
    pub fn record(&self, offset: u32) -> Record<'_> {
        Section::new(&self.bytes).record(offset - self.start)
    }

    /// Offset in the section of its first byte.
    pub fn start(&self) -> u32 {
        self.start
    }
}
