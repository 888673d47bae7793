//! The bytes of a connection that wait to be sent.

use crate::channel::Channel;
use crate::limits::{MESSAGE_MAX, PART_MAX, SPARE_MAX, UNSENT_MAX};
use crate::wire::{HEADER_LEN_MAX, Item};
use rustix::io::Errno;

// Any message fits into an empty outbox.
const _: () = assert!(UNSENT_MAX >= 2 * (HEADER_LEN_MAX + PART_MAX) && PART_MAX >= MESSAGE_MAX);

/// Buffers of connections that have sent everything, for others.
#[derive(Debug, Default)]
pub(crate) struct Spare(Vec<Box<[u8]>>);

/// The writing end of a connection.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    /// Empty if nothing waits.
    buffer: Box<[u8]>,
    /// The bytes from `start` to `end` wait.
    start: usize,
    end: usize,
}

impl Outbox {
    /// Returns the number of bytes that wait.
    pub(crate) fn len(&self) -> usize {
        self.end - self.start
    }

    /// Returns true if there is room for an item.
    pub(crate) fn has_room(&self, item: &Item) -> bool {
        self.end + item.header_len() + item.len() <= UNSENT_MAX
    }

    /// Appends an item. Returns the place for its bytes, which the caller must write. There must be
    /// room.
    pub(crate) fn append(&mut self, item: &Item, spare: &mut Spare) -> &mut [u8] {
        if self.buffer.is_empty() {
            self.buffer = spare.0.pop().unwrap_or_else(|| vec![0; UNSENT_MAX].into());
        }
        let bytes_at = self.end + item.header_len();
        item.emit(&mut self.buffer[self.end..bytes_at]);
        self.end = bytes_at + item.len();
        &mut self.buffer[bytes_at..self.end]
    }

    /// Sends as much as the system takes.
    ///
    /// # Errors
    /// Those of the system, but for [`Errno::AGAIN`].
    pub(crate) fn flush(&mut self, channel: &mut Channel, spare: &mut Spare) -> Result<(), Errno> {
        while self.start < self.end {
            match channel.send(&self.buffer[self.start..self.end]) {
                Ok(sent) => self.start += sent,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    // Room is counted from the end, so bytes that were sent must go.
                    if self.start >= UNSENT_MAX / 2 {
                        self.buffer.copy_within(self.start..self.end, 0);
                        (self.start, self.end) = (0, self.end - self.start);
                    }
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        (self.start, self.end) = (0, 0);
        let buffer = std::mem::take(&mut self.buffer);
        if !buffer.is_empty() && spare.0.len() < SPARE_MAX {
            spare.0.push(buffer);
        }
        Ok(())
    }
}
