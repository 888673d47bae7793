//! Checks the operands of actions, and creates local operations.

use super::data::{Data, memory};
use crate::error::{Error, ErrorCode, Result};
use goal_lang::{
    Action, BodyBuilder, Datatype, Op, Payload, Piece, Pieces, Space, is_legal, overlaps_itself,
    partly_overlap,
};

/// Returns the action of a local operation; `None` if its operands have no bytes. For a copy, `b`
/// must be the same as `result`.
///
/// # Errors
/// The operation is not defined for the type, the buffers differ in size, or they overlap.
pub(super) fn local_op(
    builder: &mut BodyBuilder,
    op: Op,
    datatype: Datatype,
    [a, b, result]: [Data<'_>; 3],
) -> Result<Option<Action>> {
    if !is_legal(op, datatype) {
        let text = format!("{} is not defined for {}", op.name(), datatype.name());
        return Err(Error::new(ErrorCode::Operation, text));
    }
    let names = ["the first buffer", "the second buffer", "the buffer of the result"];
    let mut sizes = [0; 3];
    for ((size, data), name) in sizes.iter_mut().zip([a, b, result]).zip(names) {
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
    let has_overlap = partly_overlap(a.pieces(), b.pieces())
        || partly_overlap(a.pieces(), result.pieces())
        || partly_overlap(b.pieces(), result.pieces())
        || overlaps_itself(result.pieces());
    if has_overlap {
        let text = "the buffers overlap partly: they may be the same bytes or disjoint";
        return Err(Error::new(ErrorCode::Buffer, text));
    }
    if size == 0 {
        return Ok(None);
    }
    if let (Data::One(a), Data::One(b), Data::One(c)) = (a, b, result) {
        let has_c = b != c;
        let spaces = [a.space, b.space, if has_c { c.space } else { Space::Memory }];
        let third = if has_c { c.addr } else { 0 };
        let action =
            Action::Exec { op, datatype, spaces, has_c, a: a.addr, b: b.addr, c: third, size };
        return Ok(Some(action));
    }
    let has_c = b.pieces() != result.pieces();
    let none: &[Piece] = &[];
    let operands = [a.pieces(), b.pieces(), if has_c { result.pieces() } else { none }]
        .map(|pieces| whole_pieces(builder, pieces));
    Ok(Some(Action::ExecVector { op, datatype, operands }))
}

/// Returns the payload of a message with the bytes of `data`.
pub(super) fn payload(builder: &mut BodyBuilder, data: Data<'_>) -> Payload {
    let mut kept = data.pieces().iter().copied().filter(|piece| piece.size > 0);
    match (data, kept.next(), kept.next()) {
        (Data::One(piece), ..) | (_, Some(piece), None) => Payload::Buffer(piece),
        (_, None, _) => Payload::Buffer(memory(0, 0)),
        (Data::Many(pieces), Some(_), Some(_)) => Payload::Vector(whole_pieces(builder, pieces)),
    }
}

/// Stores in `builder` the pieces that have bytes. If none has, stores the first piece without
/// bytes.
pub(super) fn whole_pieces(builder: &mut BodyBuilder, pieces: &[Piece]) -> Pieces {
    let mut kept: Vec<Piece> = pieces.iter().copied().filter(|piece| piece.size > 0).collect();
    if kept.is_empty() {
        kept.extend(pieces.first().map(|piece| Piece { size: 0, ..*piece }));
    }
    builder.pieces(&kept)
}
