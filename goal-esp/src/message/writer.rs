//! Chunks into packets.

use crate::wire::Chunk;

/// Fills packets with chunks. Small ones share a packet. Packets that are full go to its owner,
/// which hands back an empty one for the next.
#[derive(Debug, Default)]
pub struct Writer {
    /// The packet that has room left.
    open: Vec<u8>,
}

impl Writer {
    /// Returns how many bytes of payload the next part of a message may have so that
    /// [`Writer::place`] keeps it in one packet: what is left of the open packet, or a whole
    /// packet's worth where only little is left. `payload_max` is the longest payload of a packet.
    pub fn room(&self, payload_max: usize) -> usize {
        let left = payload_max.saturating_sub(self.open.len());
        let room = if left < payload_max / 4 { payload_max } else { left };
        room - Chunk::HEADER_LEN_MIN
    }

    /// Appends a chunk and returns the place for its `chunk.len` bytes, which hold anything until
    /// the caller writes them. A part of a message that the open packet is too short for begins the
    /// next packet, so that its receiver reads it in one piece. Returns `None`, without the chunk
    /// being appended, if it doesn't fit. `payload_max` is the longest payload of a packet; full
    /// packets go to `send`.
    pub fn place(
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
            self.finish(send);
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

    /// Appends a chunk with its bytes, `chunk.len` of them. `payload_max` is the longest payload of
    /// a packet; packets that are full go to `send`.
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
            self.finish(&mut send);
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
            self.finish(&mut send);
        }
    }

    /// Lets the packet out that has room left. A write ends here.
    pub fn finish(&mut self, mut send: impl FnMut(Vec<u8>) -> Vec<u8>) {
        if !self.open.is_empty() {
            self.open = send(std::mem::take(&mut self.open));
        }
    }
}
