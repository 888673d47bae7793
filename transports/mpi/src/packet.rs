//! Packets. A packet is a message of MPI that has whole chunks of `goal-fabric`, one behind the
//! other.
#![cfg_attr(not(feature = "mpi"), allow(dead_code))] // its tests need no MPI

use crate::limits::PACKET_MAX;
use goal_fabric::StreamFault;
use goal_fabric::chunk::{Chunk, Malformed};
use goal_fabric::message::Broken;

/// A packet that is being written.
pub(crate) struct Packet {
    pub(crate) buffer: Box<[u8]>,
    pub(crate) len: usize,
}

impl Packet {
    /// Returns an empty packet. It takes its buffer from `spare`, or allocates one if none is left.
    pub(crate) fn new(spare: &mut Vec<Box<[u8]>>) -> Self {
        Self { buffer: spare.pop().unwrap_or_else(|| vec![0; PACKET_MAX].into()), len: 0 }
    }

    /// Returns true if there is room for a chunk and its bytes.
    pub(crate) fn has_room(&self, chunk: &Chunk) -> bool {
        self.len + chunk.header_len() + chunk.len as usize <= self.buffer.len()
    }

    /// Appends a chunk. Returns the place for its bytes, which the caller must write. There must be
    /// room.
    pub(crate) fn append(&mut self, chunk: &Chunk) -> &mut [u8] {
        let bytes_at = self.len + chunk.header_len();
        chunk.emit(&mut self.buffer[self.len..bytes_at]);
        self.len = bytes_at + chunk.len as usize;
        &mut self.buffer[bytes_at..self.len]
    }
}

/// Reads the chunk at the beginning of `bytes`. Returns the chunk, the chunk's bytes, and the bytes
/// behind them.
///
/// # Errors
/// [`StreamFault`].
pub(crate) fn next(bytes: &[u8]) -> Result<(Chunk, &[u8], &[u8]), StreamFault> {
    let broken = |malformed| StreamFault::Stream(Broken::Header(malformed));
    let chunk = Chunk::parse(bytes).map_err(broken)?;
    let payload = &bytes[chunk.header_len()..];
    let (own, rest) =
        payload.split_at_checked(chunk.len as usize).ok_or_else(|| broken(Malformed::Short))?;
    Ok((chunk, own, rest))
}

#[cfg(test)]
mod tests {
    use super::{Packet, next};
    use goal_fabric::chunk::{Chunk, ChunkKind};

    fn chunk(kind: ChunkKind, len: u32) -> Chunk {
        Chunk { kind, len, message: 0, receive: 0, offset: 0, envelope: None }
    }

    #[test]
    fn chunks_come_back_as_they_were_written() {
        let mut packet = Packet::new(&mut Vec::new());
        packet.append(&chunk(ChunkKind::Part, 3)).copy_from_slice(b"abc");
        let room = Chunk { offset: 77, ..chunk(ChunkKind::Room, 0) };
        packet.append(&room);
        let (first, bytes, rest) = next(&packet.buffer[..packet.len]).unwrap();
        assert_eq!((first.kind, bytes), (ChunkKind::Part, &b"abc"[..]));
        let (second, bytes, rest) = next(rest).unwrap();
        assert_eq!((second, bytes, rest), (room, &[][..], &[][..]));
    }

    /// Any process of the job may send any bytes.
    #[test]
    fn bytes_that_are_no_packet_are_refused() {
        let mut packet = Packet::new(&mut Vec::new());
        packet.append(&chunk(ChunkKind::Part, 100));
        for len in 1..packet.len {
            assert!(next(&packet.buffer[..len]).is_err(), "{len}");
        }
        for first in [0, 10, 200, 255] {
            packet.buffer[0] = first;
            assert!(next(&packet.buffer[..packet.len]).is_err(), "{first}");
        }
        assert!(next(&[0xff; 64]).is_err());
    }
}
