//! Describes the bytes that actions work on: memory of the process, or scratch memory of a
//! schedule.

use crate::error::{Error, ErrorCode, Result};
use goal_lang::{Piece, Space};

/// Returns the piece of `size` bytes at `address` in the memory of the process.
pub const fn memory(address: usize, size: u64) -> Piece {
    Piece { addr: address as u64, size, space: Space::Memory }
}

/// Returns the piece of `size` bytes at `offset` in the schedule's scratch memory.
pub const fn scratch(offset: u64, size: u64) -> Piece {
    Piece { addr: offset, size, space: Space::Scratch }
}

/// The bytes that an action works on: one piece, or the concatenation of several pieces.
#[derive(Debug, Clone, Copy)]
pub enum Data<'a> {
    /// Consecutive bytes.
    One(Piece),
    /// The bytes of all pieces, in their order.
    Many(&'a [Piece]),
}

impl Data<'_> {
    pub(super) fn pieces(&self) -> &[Piece] {
        match self {
            Data::One(piece) => std::slice::from_ref(piece),
            Data::Many(pieces) => pieces,
        }
    }

    /// Checks every piece, and returns the sum of their sizes in bytes. `what` names the argument
    /// in errors.
    pub(super) fn size(&self, what: &str) -> Result<u64> {
        let mut sum = 0u64;
        for (number, piece) in self.pieces().iter().enumerate() {
            let of_piece = || match self {
                Data::One(_) => what.to_owned(),
                Data::Many(_) => format!("piece {number} of {what}"),
            };
            if piece.space == Space::Memory && piece.addr == 0 && piece.size > 0 {
                let text = format!("{} is NULL and has {} bytes", of_piece(), piece.size);
                return Err(Error::new(ErrorCode::Buffer, text));
            }
            let end = piece.addr.checked_add(piece.size);
            sum = end.and(sum.checked_add(piece.size)).ok_or_else(|| {
                let text = format!("{} ends past 2^64 bytes", of_piece());
                Error::new(ErrorCode::Count, text)
            })?;
        }
        Ok(sum)
    }
}
