//! Splits the received bytes of a connection into items. The bytes may arrive in pieces of any
//! length.

use crate::limits::MESSAGE_MAX;
use crate::wire::Item;
use goal_fabric::chunk::Malformed;
use goal_fabric::limits::ELEMENT_BYTES_MAX;
use goal_fabric::message::Broken;
use std::ops::ControlFlow;

/// The reading end of a connection.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    /// The item whose bytes have not all arrived, and the number of its bytes that were handled.
    open: Option<(Item, usize)>,
    /// Bytes that arrived and can't be handled before more bytes arrive. Empty for most
    /// connections.
    kept: Vec<u8>,
}

impl Inbox {
    /// Returns true while an item is not complete.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some() || !self.kept.is_empty()
    }

    /// Returns the number of bytes that were kept.
    pub(crate) fn kept(&self) -> usize {
        self.kept.len()
    }

    /// Moves the bytes that were kept to the beginning of `buffer`.
    pub(crate) fn restore(&mut self, buffer: &mut [u8]) {
        if !self.kept.is_empty() {
            buffer[..self.kept.len()].copy_from_slice(&self.kept);
            self.kept = Vec::new();
        }
    }

    /// Keeps the bytes that [`Inbox::read`] left.
    pub(crate) fn keep(&mut self, bytes: &[u8]) {
        debug_assert!(self.kept.is_empty());
        self.kept.extend_from_slice(bytes);
    }

    /// Returns the rest of the open item as an item: the bytes that were not handled yet. The first
    /// [`Inbox::kept`] of these bytes have arrived. Returns `None` if no item is open.
    pub(crate) fn rest(&self) -> Option<Item> {
        let (item, before) = self.open?;
        Some(item.piece_of(before, item.len() - before))
    }

    /// Removes and returns the bytes that were kept.
    pub(crate) fn take_kept(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.kept)
    }

    /// Notes that `len` bytes of [`Inbox::rest`] were handled. No bytes may be kept. Returns true
    /// if the item ends.
    pub(crate) fn note_handled(&mut self, len: usize) -> bool {
        debug_assert!(self.kept.is_empty());
        let open = self.open.take();
        self.open = open.map(|(item, before)| (item, before + len));
        self.open = self.open.filter(|(item, before)| *before < item.len());
        self.open.is_none()
    }

    /// Passes the items in `bytes` to `sink` until `sink` breaks. An item that comes in pieces is
    /// passed piece by piece, each as an item of its own. Each piece except the last has a multiple
    /// of [`ELEMENT_BYTES_MAX`] bytes. The last argument of `sink` is true if the item ends.
    /// Returns the number of bytes that were handled. If `sink` did not break, the other bytes
    /// can't be handled before more bytes arrive.
    ///
    /// # Errors
    /// [`Broken`]. The caller must not read on then.
    pub(crate) fn read(
        &mut self,
        bytes: &[u8],
        mut sink: impl FnMut(&Item, &[u8], bool) -> ControlFlow<()>,
    ) -> Result<usize, Broken> {
        let mut at = 0;
        loop {
            let left = &bytes[at..];
            let (item, before) = match self.open.take() {
                Some(open) => open,
                None => {
                    let Some(item) = Item::parse(left)? else { return Ok(at) };
                    let is_long = !item.comes_in_pieces() && item.len() > MESSAGE_MAX;
                    if is_long {
                        return Err(Broken::Header(Malformed::Contradiction));
                    }
                    if !item.comes_in_pieces() && left.len() < item.header_len() + item.len() {
                        return Ok(at);
                    }
                    at += item.header_len();
                    (item, 0)
                }
            };
            let left = &bytes[at..];
            let wanted = item.len() - before;
            let len = match left.len() < wanted {
                true => left.len() - left.len() % ELEMENT_BYTES_MAX,
                false => wanted,
            };
            let is_end = len == wanted;
            if !is_end {
                self.open = Some((item, before + len));
            }
            if len == 0 && !is_end {
                return Ok(at);
            }
            at += len;
            if sink(&item.piece_of(before, len), &left[..len], is_end).is_break() {
                return Ok(at);
            }
        }
    }
}

impl Item {
    /// Returns the item itself if `len` is its whole length. Otherwise returns the piece of `len`
    /// bytes behind the first `before` bytes.
    fn piece_of(&self, before: usize, len: usize) -> Self {
        if len == self.len() { *self } else { self.piece(before, len) }
    }
}
