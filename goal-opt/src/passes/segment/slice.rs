//! Parts of actions that are split.

use goal_lang::{Access, Action, Body, Payload, Piece, Pieces};

/// Scattered messages of more pieces than this stay whole.
const PIECES_MAX: usize = 64;

/// Returns true if an action is a send or a receive.
pub(super) fn is_message(action: &Action) -> bool {
    matches!(action, Action::Send { .. } | Action::Recv { .. })
}

/// Returns the number of bytes of an action that can be split: a message, or a predefined operation
/// on contiguous buffers. Returns 0 for others.
pub(super) fn size(body: &Body, action: &Action) -> u64 {
    match *action {
        Action::Send { payload, .. } | Action::Recv { payload, .. } => match payload {
            Payload::Vector(pieces) if pieces.len as usize > PIECES_MAX => 0,
            _ => body.payload_size(payload),
        },
        Action::Exec { size, .. } => size,
        _ => 0,
    }
}

/// The part of an action with the bytes `from..to`. Its pieces are added to the body's table.
pub(super) fn part(body: &mut Body, action: Action, from: u64, to: u64) -> Action {
    match action {
        Action::Send { payload, to: destination, tag, placement } => Action::Send {
            payload: payload_part(body, payload, true, from, to),
            to: destination,
            tag,
            placement,
        },
        Action::Recv { payload, from: source, tag, placement } => Action::Recv {
            payload: payload_part(body, payload, false, from, to),
            from: source,
            tag,
            placement,
        },
        Action::Exec { op, datatype, spaces, has_c, a, b, c, .. } => Action::Exec {
            op,
            datatype,
            spaces,
            has_c,
            a: a + from,
            b: b + from,
            c: if has_c { c + from } else { c },
            size: to - from,
        },
        other => other,
    }
}

fn payload_part(body: &mut Body, payload: Payload, is_send: bool, from: u64, to: u64) -> Payload {
    match payload {
        Payload::Pattern { .. } => Payload::Pattern { size: to - from },
        Payload::Buffer(piece) => Payload::Buffer(piece_part(piece, from, to)),
        Payload::Vector(pieces) => {
            let mut begin = 0;
            let mut parts = Vec::new();
            for &piece in body.slice(pieces) {
                let (first, last) = (from.max(begin), to.min(begin + piece.size));
                if first < last {
                    parts.push(piece_part(piece, first - begin, last - begin));
                }
                begin += piece.size;
            }
            match parts[..] {
                [piece] => Payload::Buffer(piece),
                _ => Payload::Vector(Pieces { first: push(body, &parts), len: parts.len() as u32 }),
            }
        }
        Payload::Reduced { op, datatype, operands } => {
            let first = operands as usize;
            let parts: Vec<Piece> = body.pieces[first..first + 1 + usize::from(is_send)]
                .iter()
                .map(|&piece| piece_part(piece, from, to))
                .collect();
            Payload::Reduced { op, datatype, operands: push(body, &parts) }
        }
    }
}

fn piece_part(piece: Piece, from: u64, to: u64) -> Piece {
    Piece { addr: piece.addr + from, size: to - from, space: piece.space }
}

/// Adds pieces to the table and returns the position of the first.
fn push(body: &mut Body, pieces: &[Piece]) -> u32 {
    let first = u32::try_from(body.pieces.len()).expect("fewer pieces than segments are allowed");
    body.pieces.extend_from_slice(pieces);
    first
}

/// A piece that an action accesses, and its position in the operand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Touched {
    pub(super) piece: Piece,
    pub(super) access: Access,
    /// The number of its first byte in the operand.
    pub(super) offset: u64,
}

/// The pieces of an action that can be split.
pub(super) fn touched(body: &Body, action: &Action) -> Vec<Touched> {
    let size = size(body, action).max(1);
    let mut all = Vec::new();
    let mut offset = 0;
    body.visit_accesses(action, |&piece, access| {
        all.push(Touched { piece, access, offset: offset % size });
        offset += piece.size;
    });
    all
}
