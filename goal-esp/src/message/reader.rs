//! Chunks out of packets.

use crate::wire::{Chunk, ChunkKind, Malformed};
use std::fmt;

/// Why a stream of packets is none of chunks: its sender is of another version, or somebody else wrote into it. The connection is of
/// no use any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// The header of a chunk is none.
    Header(Malformed),
    /// The first chunk does not name a communicator, or another one does.
    Communicator,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Header(malformed) => write!(f, "the header of a chunk has {malformed}"),
            Broken::Communicator => f.write_str("the communicator is not named once and first"),
        }
    }
}

impl std::error::Error for Broken {}

/// Finds chunks in packets.
#[derive(Debug, Default)]
pub struct Reader {
    communicator: Option<u32>,
    /// The chunk whose bytes are not all there, and how many are.
    open: Option<(Chunk, usize)>,
    /// Those bytes, where they are handed over together.
    bytes: Vec<u8>,
}

impl Reader {
    /// The communicator for which the connection was opened, once its first packet was read.
    pub fn communicator(&self) -> Option<u32> {
        self.communicator
    }

    /// The communicator that the first packet of a connection names: who does not know it leaves that packet unread until it does,
    /// and reads no other.
    ///
    /// # Errors
    /// [`Broken`].
    pub fn communicator_of(payload: &[u8]) -> Result<u32, Broken> {
        let chunk = Chunk::parse(payload).map_err(Broken::Header)?;
        if chunk.kind == ChunkKind::Communicator { Ok(chunk.message) } else { Err(Broken::Communicator) }
    }

    /// Reads a packet's payload, and hands each chunk to `sink` but that which names the communicator: when all of its bytes are there, or piece
    /// by piece, as chunks of their own, where [`ChunkKind::comes_in_pieces`]. How many chunks ended, but for that which names the communicator.
    ///
    /// # Errors
    /// [`Broken`]; nothing more is to be read then.
    pub fn read(&mut self, payload: &[u8], mut sink: impl FnMut(&Chunk, &[u8])) -> Result<u64, Broken> {
        let mut ended = 0;
        let mut left = payload;
        while !left.is_empty() {
            let (chunk, before) = match self.open.take() {
                Some(open) => open,
                None => {
                    let chunk = Chunk::parse(left).map_err(Broken::Header)?;
                    left = &left[chunk.header_len()..];
                    (chunk, 0)
                }
            };
            if (chunk.kind == ChunkKind::Communicator) == self.communicator.is_some() {
                return Err(Broken::Communicator);
            }
            if chunk.kind == ChunkKind::Communicator {
                self.communicator = Some(chunk.message);
                continue;
            }
            let len = chunk.len as usize;
            let (here, later) = left.split_at(left.len().min(len - before));
            left = later;
            let there = before + here.len();
            if chunk.kind.comes_in_pieces() {
                if !here.is_empty() || len == 0 {
                    sink(&chunk.piece(before, here.len()), here);
                }
            } else if there == len && before == 0 {
                sink(&chunk, here);
            } else {
                self.bytes.reserve_exact(len - before);
                self.bytes.extend_from_slice(here);
                if there == len {
                    sink(&chunk, &std::mem::take(&mut self.bytes));
                }
            }
            if there < len {
                self.open = Some((chunk, there));
            } else {
                ended += 1;
            }
        }
        Ok(ended)
    }
}
