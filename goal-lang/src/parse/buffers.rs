//! Grammar actions of buffers: pieces, vectors, scratch memory.

use super::builder::{Builder, LIMITS_NOTE};
use super::operand::Mark;
use crate::diag::{Code, Diagnostic};
use crate::limits::Limit;
use crate::program::{Piece, Pieces, Space};
use std::ops::Range;

impl Builder<'_> {
    #[inline]
    pub(crate) fn piece(&mut self, start: usize, addr: u64, size: u64, end: usize, space: Space) {
        let limit = match space {
            Space::Memory => self.options.limits.memory_bytes_max,
            Space::Scratch => self.options.limits.scratch_bytes_max,
        };
        let past = addr.checked_add(size);
        let piece = if past.is_some_and(|past| past <= limit) {
            Piece { addr, size, space }
        } else {
            self.too_far(start, end, space, past.is_none());
            Piece { addr: 0, size: 0, space }
        };
        if self.vector_start.is_some() && size == 0 {
            self.empty_piece(start, end);
        }
        if space == Space::Scratch {
            self.block.scratch_end = self.block.scratch_end.max(piece.addr + piece.size);
        }
        if self.vector_start.is_none() {
            self.operands.push(Mark {
                first: self.pieces.len(),
                len: 1,
                vector: false,
                start,
                end,
            });
        }
        self.pieces.push(piece);
    }

    /// Reports a piece that ends past the limit or past 64 bits.
    #[cold]
    pub(super) fn too_far(&mut self, start: usize, end: usize, space: Space, overflows: bool) {
        let (span, text) = (self.span(start, end), self.quote(start, end));
        self.broken = true;
        let limits = self.options.limits;
        let (most, limit, what) = match space {
            Space::Memory => (limits.memory_bytes_max, Limit::Memory, "memory"),
            Space::Scratch => (limits.scratch_bytes_max, Limit::Scratch, "scratch memory"),
        };
        if overflows {
            return self.report.add(Code::NumberOverflow, || {
                Diagnostic::new(Code::NumberOverflow, format!("the end of {text} is past 64 bits"))
                    .label(span, "address and size together are too large")
                    .note(format!("the largest address is {}", u64::MAX))
                    .help("use a smaller address or size")
            });
        }
        self.report.add(Code::LimitExceeded, || {
            Diagnostic::new(
                Code::LimitExceeded,
                format!("{text} ends past the limit of {most} bytes of {what}"),
            )
            .label(span, "a buffer this far")
            .note(LIMITS_NOTE)
            .limit(limit)
        });
    }

    #[cold]
    fn empty_piece(&mut self, start: usize, end: usize) {
        let span = self.span(start, end);
        self.report.add(Code::EmptyPiece, || {
            Diagnostic::new(Code::EmptyPiece, "a piece of a scattered buffer has 0 bytes")
                .label(span, "nothing to send, receive or compute")
                .note("a message may have 0 bytes, a piece of a scattered buffer may not")
                .help("leave the piece out")
        });
    }

    pub(crate) fn begin_vector(&mut self, start: usize) {
        self.vector_start = Some(start);
        self.operands.push(Mark {
            first: self.pieces.len(),
            len: 0,
            vector: true,
            start,
            end: start,
        });
    }

    pub(crate) fn end_vector(&mut self, end: usize) {
        self.vector_start = None;
        if let Some(mark) = self.operands.last_mut() {
            mark.len = self.pieces.len() - mark.first;
            mark.end = end;
            let size = self.pieces[mark.first..]
                .iter()
                .try_fold(0u64, |sum, piece| sum.checked_add(piece.size));
            let (start, len) = (mark.start, mark.len);
            if size.is_none() {
                self.too_far(start, end, Space::Memory, true);
            }
            if u32::try_from(len).is_err() {
                self.too_many("pieces", start);
            }
        }
    }

    pub(crate) fn scratch(&mut self, at: usize, bytes: u64) {
        let limit = self.options.limits.scratch_bytes_max;
        if bytes > limit {
            if self.wide(at, bytes, "the size in bytes").is_some() {
                self.too_far(at, self.number_end(at), Space::Scratch, false);
            }
            return;
        }
        // Several blocks of a rank may state its scratch memory. The largest statement counts.
        let scratch = &mut self.block.body.scratch;
        *scratch = bytes.max(*scratch);
    }

    /// Moves an operand's pieces into the block's table.
    pub(super) fn store(&mut self, mark: Mark) -> Pieces {
        self.store_pieces(mark.first..mark.first + mark.len, mark.start)
    }

    /// Moves pieces of the statement at `start` into the block's table.
    pub(super) fn store_pieces(&mut self, range: Range<usize>, start: usize) -> Pieces {
        let pieces = &mut self.block.body.pieces;
        let len = range.len() as u32;
        match u32::try_from(pieces.len() + range.len()) {
            Ok(end) => {
                pieces.extend_from_slice(&self.pieces[range]);
                Pieces { first: end - len, len }
            }
            Err(_) => {
                self.too_many("pieces", start);
                Pieces { first: 0, len: 0 }
            }
        }
    }
}
