//! Local operations, and the operands of actions.

use super::data::{Data, memory};
use super::{Graph, Vertex};
use crate::error::{Error, ErrorCode, Result};
use goal_lang::{
    Action, Datatype, Op, Payload, Piece, Pieces, Space, is_legal, overlaps_itself, partly_overlap,
};

impl Graph {
    /// Adds a local operation: `result = a op b`, element by element. For [`Op::Copy`] it is
    /// `result = a`, and `b` is not used. Operands may be the same bytes, and must not overlap
    /// partly.
    ///
    /// # Errors
    /// The operation is not defined for the type, the buffers differ in size, or they overlap.
    pub fn local_op(
        &mut self,
        op: Op,
        datatype: Datatype,
        a: Data<'_>,
        b: Data<'_>,
        result: Data<'_>,
    ) -> Result<Vertex> {
        if !is_legal(op, datatype) {
            let text = format!("{} is not defined for {}", op.name(), datatype.name());
            return Err(Error::new(ErrorCode::Operation, text));
        }
        let is_copy = op == Op::Copy;
        let operands = if is_copy { [a, result, result] } else { [a, b, result] };
        let names = ["the first buffer", "the second buffer", "the buffer of the result"];
        let mut sizes = [0; 3];
        for ((size, data), name) in sizes.iter_mut().zip(&operands).zip(names) {
            *size = data.size(name)?;
        }
        let [size, second, third] = sizes;
        if size != second || size != third {
            let text = format!("the buffers differ in size: {size}, {second} and {third} bytes");
            return Err(Error::new(ErrorCode::Count, text));
        }
        if !size.is_multiple_of(datatype.width()) {
            let (name, width) = (datatype.name(), datatype.width());
            let text = format!("{size} bytes are no multiple of the {width} bytes of {name}");
            return Err(Error::new(ErrorCode::Count, text));
        }
        let [a, b, result] = operands;
        let has_overlap = partly_overlap(a.pieces(), b.pieces())
            || partly_overlap(a.pieces(), result.pieces())
            || partly_overlap(b.pieces(), result.pieces())
            || overlaps_itself(result.pieces());
        if has_overlap {
            let text = "the buffers overlap partly: they may be the same bytes or disjoint";
            return Err(Error::new(ErrorCode::Buffer, text));
        }
        if size == 0 {
            return self.nop();
        }
        for data in [a, b, result] {
            self.note_scratch(data);
        }
        if let (Data::One(a), Data::One(b), Data::One(c)) = (a, b, result) {
            let has_c = b != c;
            let spaces = [a.space, b.space, if has_c { c.space } else { Space::Memory }];
            let third = if has_c { c.addr } else { 0 };
            let action =
                Action::Exec { op, datatype, spaces, has_c, a: a.addr, b: b.addr, c: third, size };
            return self.add(action);
        }
        let has_c = b.pieces() != result.pieces();
        let none: &[Piece] = &[];
        let operands = [a.pieces(), b.pieces(), if has_c { result.pieces() } else { none }]
            .map(|pieces| self.whole_pieces(pieces));
        self.add(Action::ExecVector { op, datatype, operands })
    }

    pub(super) fn payload(&mut self, data: Data<'_>) -> Result<Payload> {
        data.size("the buffer")?;
        self.note_scratch(data);
        Ok(match data {
            Data::One(piece) => Payload::Buffer(piece),
            Data::Many(pieces) => {
                let mut kept = pieces.iter().copied().filter(|piece| piece.size > 0);
                match (kept.next(), kept.next()) {
                    (None, _) => Payload::Buffer(memory(0, 0)),
                    (Some(piece), None) => Payload::Buffer(piece),
                    (Some(_), Some(_)) => Payload::Vector(self.whole_pieces(pieces)),
                }
            }
        })
    }

    /// Stores the pieces that have bytes.
    pub(super) fn whole_pieces(&mut self, pieces: &[Piece]) -> Pieces {
        let mut kept: Vec<Piece> = pieces.iter().copied().filter(|piece| piece.size > 0).collect();
        if kept.is_empty() {
            kept.extend(pieces.first().map(|piece| Piece { size: 0, ..*piece }));
        }
        self.builder.pieces(&kept)
    }

    pub(super) fn note_scratch(&mut self, data: Data<'_>) {
        let index = self.builder.len() as u32;
        for piece in data.pieces().iter().filter(|piece| piece.space == Space::Scratch) {
            let end = piece.addr.saturating_add(piece.size);
            if end > self.scratch_used.0 {
                self.scratch_used = (end, index);
            }
        }
    }
}
