//! Makes actions read the source of a copy instead of the copy, if the source still has the same
//! content.

use crate::flow::{Fate, Flow, Order, Outputs};
use goal_lang::{Action, ActionId, Body, Op, Payload, Piece, partly_overlap};

/// The most readers of one value of a copy. A copy that has a value with more readers stays.
const READERS_MAX: usize = 64;

/// Returns readers of copies, each with its new action, which reads the source of the copy instead.
/// Handles only copies whose readers can all change: such a copy is then dead. Ignores actions
/// of `dead`.
pub(super) fn find(
    body: &Body,
    flow: &Flow,
    outputs: &Outputs,
    order: &mut Order<'_>,
    dead: &[bool],
) -> Vec<(ActionId, Action)> {
    let mut forwarded: Vec<(ActionId, Action)> = Vec::new();
    let mut is_changed = vec![false; body.len()];
    for id in body.ids().filter(|id| !dead[id.index()]) {
        let Some([source, copy]) = contiguous_copy(body.action(id)) else { continue };
        let Some(readers) = readers(flow, outputs, id, dead) else { continue };
        let known = flow.read_by(id).all(|value| value.is_certain);
        if !known || readers.iter().any(|reader| is_changed[reader.index()]) {
            continue;
        }
        let mut after = Vec::with_capacity(readers.len());
        for &reader in &readers {
            // True if all bytes of the copy that the reader reads still come from this copy. Some
            // may have been overwritten since.
            let all_copied = flow.read_by(reader).all(|value| {
                let read =
                    Piece { addr: value.start, size: value.end - value.start, space: value.space };
                value.writer == Some(id) || !overlap(read, copy)
            });
            if !all_copied {
                break;
            }
            let Some(action) = reading_source(body.action(reader), copy, source) else { break };
            // True if no action writes the source between the copy and this reader.
            let holds = flow.read_by(id).all(|value| match value.fate {
                Fate::Final => true,
                Fate::Overwritten(by) => by == reader || order.ends_before(reader, by),
            });
            if !holds {
                break;
            }
            after.push((reader, action));
        }
        if after.len() == readers.len() {
            readers.iter().for_each(|reader| is_changed[reader.index()] = true);
            forwarded.append(&mut after);
        }
    }
    forwarded
}

/// The source and the destination of a copy of contiguous buffers.
fn contiguous_copy(action: &Action) -> Option<[Piece; 2]> {
    match *action {
        Action::Exec { op: Op::Copy, spaces, a, b, size, .. }
            if (spaces[0], a) != (spaces[1], b) =>
        {
            Some([
                Piece { addr: a, size, space: spaces[0] },
                Piece { addr: b, size, space: spaces[1] },
            ])
        }
        _ => None,
    }
}

/// Returns the readers of a copy that are not dead. Returns `None` if the copy is an output, its
/// readers are not certain, or a value of it has more than [`READERS_MAX`].
fn readers(flow: &Flow, outputs: &Outputs, copy: ActionId, dead: &[bool]) -> Option<Vec<ActionId>> {
    let mut readers = Vec::new();
    for value in flow.written_by(copy) {
        let counts = match value.fate {
            Fate::Overwritten(_) => false,
            Fate::Final => outputs.count(value.space, value.start, value.end),
        };
        if counts || !value.is_certain || flow.readers(value).len() > READERS_MAX {
            return None;
        }
        readers.extend(flow.readers(value).iter().copied().filter(|reader| !dead[reader.index()]));
    }
    readers.sort_unstable();
    readers.dedup();
    Some(readers)
}

/// Returns the action with `source` in place of `copy` where it reads; `None` if it needs the copy.
fn reading_source(action: &Action, copy: Piece, source: Piece) -> Option<Action> {
    let touches = |piece: Piece| overlap(piece, copy);
    // The part of the source that a piece of the copy came from.
    let moved = |piece: Piece| {
        let inside = piece.space == copy.space
            && piece.addr >= copy.addr
            && piece.addr + piece.size <= copy.addr + copy.size;
        let addr = piece.addr.wrapping_sub(copy.addr).wrapping_add(source.addr);
        inside.then_some(Piece { addr, size: piece.size, space: source.space })
    };
    match *action {
        Action::Send { payload: Payload::Buffer(sent), to, tag, placement } => {
            Some(Action::Send { payload: Payload::Buffer(moved(sent)?), to, tag, placement })
        }
        Action::Exec { op, datatype, spaces, has_c, a, b, c, size } => {
            let piece = |addr, space| Piece { addr, size, space };
            let [mut new_a, mut new_b, result] = [
                piece(a, spaces[0]),
                piece(b, spaces[1]),
                piece(if has_c { c } else { b }, spaces[1 + usize::from(has_c)]),
            ];
            if touches(new_a) {
                new_a = moved(new_a)?;
            }
            let reads_b = has_c || op != Op::Copy;
            if reads_b && touches(new_b) {
                new_b = moved(new_b).filter(|_| has_c)?;
            }
            let pairs = [(new_a, new_b), (new_a, result), (new_b, result)];
            if pairs.iter().any(|&(one, other)| partly_overlap(&[one], &[other])) {
                return None;
            }
            let spaces = [new_a.space, new_b.space, spaces[2]];
            Some(Action::Exec {
                op,
                datatype,
                spaces,
                has_c,
                a: new_a.addr,
                b: new_b.addr,
                c,
                size,
            })
        }
        _ => None,
    }
}

fn overlap(a: Piece, b: Piece) -> bool {
    a.space == b.space && a.addr < b.addr + b.size && b.addr < a.addr + a.size
}
