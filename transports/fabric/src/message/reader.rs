//! Takes chunks out of packets.

use crate::chunk::{Chunk, ChunkKind, Malformed};
use crate::limits::ELEMENT_BYTES_MAX;

/// The error of a stream that does not consist of chunks: its sender has another version, or
/// another host wrote into it. The connection cannot be used any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// The header of a chunk is malformed.
    #[error("the header of a chunk has {0}")]
    Header(Malformed),
    /// The first chunk names no communicator, or a later chunk names one.
    #[error("the communicator is not named once and first")]
    Communicator,
}

/// Takes chunks out of packets.
#[derive(Debug, Default)]
pub struct Reader {
    communicator: Option<u32>,
    /// The chunk whose bytes have not all arrived, and the number of its bytes that have arrived.
    open: Option<(Chunk, usize)>,
    /// Bytes of the open chunk that have arrived and were not passed on. For a chunk that comes in
    /// pieces, this is the beginning of an element; for other chunks, all bytes that have arrived.
    bytes: Vec<u8>,
}

impl Reader {
    /// Returns the communicator that the stream names; `None` before its first packet was read.
    pub fn communicator(&self) -> Option<u32> {
        self.communicator
    }

    /// Returns the communicator that the first packet of a stream names. A receiver that does not
    /// know this communicator must not read the packet, nor any other packet of the stream.
    ///
    /// # Errors
    /// [`Broken`].
    pub fn communicator_of(payload: &[u8]) -> Result<u32, Broken> {
        let chunk = Chunk::parse(payload).map_err(Broken::Header)?;
        if chunk.kind == ChunkKind::Communicator {
            Ok(chunk.message)
        } else {
            Err(Broken::Communicator)
        }
    }

    /// Reads a packet's payload and passes each chunk to `sink`, except the chunk that names the
    /// communicator. If [`ChunkKind::comes_in_pieces`] holds, each piece that has arrived is passed
    /// as a chunk of its own. Any other chunk is passed when all of its bytes have arrived. Each
    /// piece except the last has a multiple of [`ELEMENT_BYTES_MAX`] bytes, however the packets
    /// divide the chunk. Returns the number of chunks that ended, without the chunk that names the
    /// communicator.
    ///
    /// # Errors
    /// [`Broken`]. The caller must not read on then.
    pub fn read(
        &mut self,
        payload: &[u8],
        mut sink: impl FnMut(&Chunk, &[u8]),
    ) -> Result<u64, Broken> {
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
                self.hand_pieces(&chunk, before, here, &mut sink);
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

    /// Passes on whole elements of the bytes that follow the first `before` bytes of a chunk. The
    /// beginning of an element is kept until the next packet brings its rest.
    fn hand_pieces(
        &mut self,
        chunk: &Chunk,
        before: usize,
        mut here: &[u8],
        sink: &mut impl FnMut(&Chunk, &[u8]),
    ) {
        let is_end = before + here.len() == chunk.len as usize;
        let mut at = before;
        if !self.bytes.is_empty() {
            let (rest, later) = here.split_at(here.len().min(ELEMENT_BYTES_MAX - self.bytes.len()));
            self.bytes.extend_from_slice(rest);
            (at, here) = (at + rest.len(), later);
            if self.bytes.len() < ELEMENT_BYTES_MAX && !is_end {
                return;
            }
            sink(&chunk.piece(at - self.bytes.len(), self.bytes.len()), &self.bytes);
            self.bytes.clear();
        }
        let kept = if is_end { 0 } else { here.len() % ELEMENT_BYTES_MAX };
        let (whole, begun) = here.split_at(here.len() - kept);
        if !whole.is_empty() || chunk.len == 0 {
            sink(&chunk.piece(at, whole.len()), whole);
        }
        self.bytes.extend_from_slice(begun);
    }
}
