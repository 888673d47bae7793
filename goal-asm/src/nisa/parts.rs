//! The writer of a file's parts, with a length before each and a checksum behind it.

use super::bytes::{put_u32, put_u64};
use super::container::crc;
use std::io::{self, Write};

/// Sections are encoded in parallel in batches of at most this many bytes. A larger section is
/// written piece by piece while it is encoded.
const BATCH_BYTES: u64 = 4 << 20;
/// The number of bytes that are collected before they are written.
pub(super) const BUFFER_BYTES: usize = 256 << 10;

/// A writer that collects small writes in a buffer and computes the checksum of each part.
pub(super) struct Parts<'a> {
    out: &'a mut dyn Write,
    pub(super) buffer: Vec<u8>,
    /// The length in bytes at which the buffer is written.
    buffer_max: usize,
    crc: u32,
}

impl<'a> Parts<'a> {
    /// Returns a writer that writes its buffer each time the buffer is full.
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self {
            out,
            buffer: Vec::with_capacity(BUFFER_BYTES + 4096),
            buffer_max: BUFFER_BYTES,
            crc: 0,
        }
    }

    /// Returns a writer that keeps everything in its buffer.
    pub(super) fn in_memory(out: &'a mut dyn Write) -> Self {
        Self { out, buffer: Vec::new(), buffer_max: usize::MAX, crc: 0 }
    }

    /// Writes the header and the table, which contain their own checksum.
    pub(super) fn header(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)
    }

    pub(super) fn part(
        &mut self,
        kind: u32,
        length: u64,
        payload: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        self.flush()?;
        self.crc = 0;
        put_u32(&mut self.buffer, kind);
        put_u64(&mut self.buffer, length);
        payload(self)?;
        self.flush()?;
        self.out.write_all(&self.crc.to_le_bytes())
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() >= self.buffer_max {
            self.flush()?;
            self.crc = crc(self.crc, bytes);
            return self.out.write_all(bytes);
        }
        self.buffer.extend_from_slice(bytes);
        self.relieve()
    }

    /// Appends the zeros that pad `length` bytes to a multiple of 4.
    pub(super) fn pad(&mut self, length: usize) {
        self.buffer.resize(self.buffer.len() + length.next_multiple_of(4) - length, 0);
    }

    /// Writes the buffer if it is full.
    pub(super) fn relieve(&mut self) -> io::Result<()> {
        if self.buffer.len() >= self.buffer_max { self.flush() } else { Ok(()) }
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.crc = crc(self.crc, &self.buffer);
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}

/// Writes items in order. With several threads, `encode` encodes the items of a batch in parallel
/// while the previous batch is written. `write` encodes an item while it is written. It serves
/// items larger than a batch, and all items with one thread.
pub(super) fn in_order<T: Sync>(
    items: &[T],
    length: impl Fn(&T) -> u64,
    threads: usize,
    encode: impl Fn(&[T]) -> Vec<Vec<u8>> + Sync,
    mut write: impl FnMut(&T, &mut Parts<'_>) -> io::Result<()>,
    out: &mut Parts<'_>,
) -> io::Result<()> {
    if threads <= 1 {
        return items.iter().try_for_each(|item| write(item, out));
    }
    let mut rest = items;
    let mut encoded: Vec<Vec<u8>> = Vec::new();
    while !rest.is_empty() || !encoded.is_empty() {
        let mut bytes = 0u64;
        let fits = |item: &&T| {
            bytes = bytes.saturating_add(length(item));
            bytes <= BATCH_BYTES
        };
        let (batch, behind) = rest.split_at(rest.iter().take_while(fits).count());
        let mut next = Vec::new();
        rayon::in_place_scope(|scope| {
            scope.spawn(|_| next = encode(batch));
            encoded.iter().try_for_each(|bytes| out.write(bytes))
        })?;
        encoded = next;
        rest = behind;
        if let (true, true, [large, behind @ ..]) = (batch.is_empty(), encoded.is_empty(), behind) {
            write(large, out)?;
            rest = behind;
        }
    }
    Ok(())
}
