//! Buffers of a rank.

use goal_lang::{Piece, Space};

/// An address in one of a rank's memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) space: Space,
    pub(crate) addr: u64,
}

impl Address {
    /// Returns the address that lies `bytes` bytes behind this one.
    pub(crate) fn offset(self, bytes: u64) -> Self {
        Self { addr: self.addr + bytes, ..self }
    }

    /// Returns an address in the rank's own memory.
    pub(crate) fn memory(addr: u64) -> Self {
        Self { space: Space::Memory, addr }
    }

    /// Returns `size` bytes from `offset` on.
    pub(crate) fn part(self, offset: u64, size: u64) -> Buf {
        Buf { space: self.space, addr: self.addr + offset, size }
    }
}

/// Consecutive bytes of one of a rank's memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Buf {
    pub(super) space: Space,
    pub(super) addr: u64,
    pub(super) size: u64,
}

impl Buf {
    /// Returns `size` bytes from `offset` on.
    pub(crate) fn part(self, offset: u64, size: u64) -> Self {
        debug_assert!(offset + size <= self.size, "{offset} + {size} of {self:?}");
        Self { addr: self.addr + offset, size, ..self }
    }

    /// Returns the bytes from the first of this buffer to the last of `end`. `end` must be this
    /// buffer or lie behind it.
    pub(crate) fn until(self, end: Self) -> Self {
        Self { size: end.addr + end.size - self.addr, ..self }
    }

    /// Returns the number of bytes.
    pub(crate) fn size(self) -> u64 {
        self.size
    }

    /// Returns the address of the first byte.
    pub(crate) fn address(self) -> Address {
        Address { space: self.space, addr: self.addr }
    }

    /// Returns both buffers as one, if `next` lies right behind this one.
    pub(crate) fn and(self, next: Self) -> Option<Self> {
        let is_next = next.space == self.space && self.addr + self.size == next.addr;
        is_next.then_some(Self { size: self.size + next.size, ..self })
    }

    pub(super) fn piece(self) -> Piece {
        Piece { addr: self.addr, size: self.size, space: self.space }
    }
}

/// Joins buffers of a list that lie one behind the other, and leaves out empty ones.
pub(crate) fn joined(bufs: impl IntoIterator<Item = Buf>) -> Vec<Buf> {
    let mut all: Vec<Buf> = Vec::new();
    for buf in bufs.into_iter().filter(|buf| buf.size > 0) {
        match all.last_mut().and_then(|last| Some((last.and(buf)?, last))) {
            Some((both, last)) => *last = both,
            None => all.push(buf),
        }
    }
    all
}
