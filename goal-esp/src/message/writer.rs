//! Chunks into packets.

use crate::wire::Chunk;

/// Fills packets with chunks. Small ones share a packet. Packets that are full go to its owner, which hands back an empty one for the next.
#[derive(Debug, Default)]
pub struct Writer {
    /// The packet that has room left.
    open: Vec<u8>,
}

impl Writer {
    /// Bytes of the next chunk without a transfer header for which one packet has room: that which has room left, unless that is little, or one
    /// with nothing in it. `payload_max` is the longest payload of a packet.
    pub fn room(&self, payload_max: usize) -> usize {
        let left = payload_max.saturating_sub(self.open.len());
        let room = if left < payload_max / 4 { payload_max } else { left };
        room - Chunk::HEADER_LEN_MIN
    }

    /// Appends a chunk, whose bytes are to be written to the place that this returns: `chunk.len` of them, which hold anything. `None`, and
    /// nothing was appended, where one packet has no room for all of it. `payload_max` is the longest payload of a packet; packets that are full go to
    /// `send`.
    pub fn place(
        &mut self,
        chunk: &Chunk,
        payload_max: usize,
        send: impl FnMut(Vec<u8>) -> Vec<u8>,
    ) -> Option<&mut [u8]> {
        if payload_max.saturating_sub(self.open.len()) < chunk.header_len() {
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

    /// Appends a chunk with its bytes, `chunk.len` of them. `payload_max` is the longest payload of a packet; packets that are full
    /// go to `send`.
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
