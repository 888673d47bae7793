//! Chunks into packets.

use crate::wire::Chunk;

/// Fills packets with chunks. Small ones share a packet.
#[derive(Debug, Default)]
pub struct Writer {
    /// The packet that has room left.
    open: Vec<u8>,
}

impl Writer {
    /// Appends a chunk with its bytes, `chunk.len` of them. `payload_max` is the longest payload of a packet; packets that are full
    /// go to `send`.
    pub fn write(&mut self, chunk: &Chunk, bytes: &[u8], payload_max: usize, mut send: impl FnMut(Vec<u8>)) {
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
    pub fn finish(&mut self, mut send: impl FnMut(Vec<u8>)) {
        if !self.open.is_empty() {
            send(std::mem::take(&mut self.open));
        }
    }
}
