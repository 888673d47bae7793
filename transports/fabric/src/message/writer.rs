//! Puts chunks into packets.

use crate::chunk::Chunk;

/// Puts chunks into packets, several small chunks into one packet. Full packets are passed to a
/// function of the caller, which returns an empty payload for the next packet.
#[derive(Debug, Default)]
pub struct Writer {
    /// The packet that still has room.
    open: Vec<u8>,
}

impl Writer {
    /// Returns the longest payload that [`Writer::reserve`] puts into one packet for a part of a
    /// message. This is the room left in the open packet, or the room of a whole packet if less
    /// than a quarter is left. `payload_max` is the longest payload of a packet.
    pub fn room(&self, payload_max: usize) -> usize {
        let left = payload_max.saturating_sub(self.open.len());
        let room = if left < payload_max / 4 { payload_max } else { left };
        room - Chunk::HEADER_LEN_MIN
    }

    /// Appends a chunk and returns the place for its `chunk.len` bytes, which the caller must
    /// write. If the rest of the open packet is too short for a part of a message, the part begins
    /// the next packet. So the receiver reads the part in one piece. Returns `None`, and appends
    /// nothing, if the chunk does not fit into the open packet after that. `payload_max` is the
    /// longest payload of a packet. Full packets are passed to `send`.
    pub fn reserve(
        &mut self,
        chunk: &Chunk,
        payload_max: usize,
        send: impl FnMut(Vec<u8>) -> Vec<u8>,
    ) -> Option<&mut [u8]> {
        let whole = chunk.header_len() + chunk.len as usize;
        let wanted = match chunk.kind.comes_in_pieces() && whole <= payload_max {
            true => whole,
            false => chunk.header_len(),
        };
        if payload_max.saturating_sub(self.open.len()) < wanted {
            self.flush(send);
        }
        let start = self.open.len();
        let bytes_at = start + chunk.header_len();
        let end = bytes_at + chunk.len as usize;
        if end > payload_max {
            return None;
        }
        self.open.resize(end, 0);
        chunk.emit(&mut self.open[start..]);
        Some(&mut self.open[bytes_at..])
    }

    /// Appends a chunk with its bytes, `chunk.len` of them, over as many packets as they need.
    /// `payload_max` is the longest payload of a packet. Full packets are passed to `send`.
    pub fn write(
        &mut self,
        chunk: &Chunk,
        bytes: &[u8],
        payload_max: usize,
        mut send: impl FnMut(Vec<u8>) -> Vec<u8>,
    ) {
        debug_assert_eq!(chunk.len as usize, bytes.len());
        let header_len = chunk.header_len();
        if payload_max.saturating_sub(self.open.len()) < header_len {
            self.flush(&mut send);
        }
        let start = self.open.len();
        self.open.resize(start + header_len, 0);
        chunk.emit(&mut self.open[start..]);
        let mut left = bytes;
        loop {
            let room = payload_max.saturating_sub(self.open.len()).min(left.len());
            let (here, later) = left.split_at(room);
            self.open.extend_from_slice(here);
            if later.is_empty() {
                return;
            }
            left = later;
            self.flush(&mut send);
        }
    }

    /// Passes the open packet to `send` unless it is empty. Callers do so at the end of a write.
    pub fn flush(&mut self, mut send: impl FnMut(Vec<u8>) -> Vec<u8>) {
        if !self.open.is_empty() {
            self.open = send(std::mem::take(&mut self.open));
        }
    }
}
