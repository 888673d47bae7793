//! The bytes of a connection that wait to be sent.

use crate::channel::Channel;
use crate::limits::{MESSAGE_MAX, PART_MAX, SPARE_MAX, UNSENT_MAX};
use crate::sockets::send_pieces;
use crate::wire::{HEADER_LEN_MAX, Item};
use rustix::io::Errno;
use std::os::fd::BorrowedFd;

// Any message fits into an empty outbox.
const _: () = assert!(UNSENT_MAX >= 2 * (HEADER_LEN_MAX + PART_MAX) && PART_MAX >= MESSAGE_MAX);

/// Buffers of connections that have sent all their bytes, kept for other connections.
#[derive(Debug, Default)]
pub(crate) struct Spare(Vec<Box<[u8]>>);

/// The writing end of a connection.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    /// The buffer of the bytes that wait to be sent; empty if there are none.
    buffer: Box<[u8]>,
    /// The bytes of `buffer` from `start` to `end` wait to be sent.
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
        let place = self.extend(item.header_len() + item.len(), spare);
        let (header, bytes) = place.split_at_mut(item.header_len());
        item.emit(header);
        bytes
    }

    /// Makes room for `len` more bytes, and returns their place.
    fn extend(&mut self, len: usize, spare: &mut Spare) -> &mut [u8] {
        if self.buffer.is_empty() {
            self.buffer = spare.0.pop().unwrap_or_else(|| vec![0; UNSENT_MAX].into());
        }
        let start = self.end;
        self.end += len;
        if self.end > self.buffer.len() {
            let mut longer = std::mem::take(&mut self.buffer).into_vec();
            longer.resize(self.end, 0);
            self.buffer = longer.into();
        }
        &mut self.buffer[start..self.end]
    }

    /// Sends the bytes that wait, and then an item with the payload `bytes`. The part of the item
    /// that the system does not take is copied and waits, even beyond the room of the outbox.
    ///
    /// # Errors
    /// [`Errno::AGAIN`] if the system takes nothing of the item: nothing of it waits then. Others
    /// of the system.
    pub(crate) fn send(
        &mut self,
        item: &Item,
        bytes: &[u8],
        socket: BorrowedFd<'_>,
        spare: &mut Spare,
    ) -> Result<(), Errno> {
        let mut header = [0; HEADER_LEN_MAX];
        let header = &mut header[..item.header_len()];
        item.emit(header);
        let waiting = &self.buffer[self.start..self.end];
        let sent = send_pieces(socket, [waiting, header, bytes])?;
        let of_waiting = sent.min(waiting.len());
        self.start += of_waiting;
        if self.start == self.end {
            self.release(spare);
        }
        let taken = sent - of_waiting;
        if taken == 0 {
            return Err(Errno::AGAIN);
        }
        for piece in
            [&header[taken.min(header.len())..], &bytes[taken.saturating_sub(header.len())..]]
        {
            if !piece.is_empty() {
                self.extend(piece.len(), spare).copy_from_slice(piece);
            }
        }
        Ok(())
    }

    /// Gives the buffer to other connections. Called when no bytes wait.
    fn release(&mut self, spare: &mut Spare) {
        (self.start, self.end) = (0, 0);
        let buffer = std::mem::take(&mut self.buffer);
        if buffer.len() == UNSENT_MAX && spare.0.len() < SPARE_MAX {
            spare.0.push(buffer);
        }
    }

    /// Sends as many of the waiting bytes as the system takes.
    ///
    /// # Errors
    /// Those of the system, but for [`Errno::AGAIN`].
    pub(crate) fn flush(&mut self, channel: &mut Channel, spare: &mut Spare) -> Result<(), Errno> {
        while self.start < self.end {
            match channel.send(&self.buffer[self.start..self.end]) {
                Ok(sent) => self.start += sent,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    // [`Outbox::has_room`] counts from `end`, so the bytes that were sent must be
                    // removed.
                    if self.start >= self.buffer.len() / 2 {
                        self.buffer.copy_within(self.start..self.end, 0);
                        (self.start, self.end) = (0, self.end - self.start);
                    }
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        self.release(spare);
        Ok(())
    }
}
