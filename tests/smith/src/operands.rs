//! Chooses the buffers of operands at random.

use goal_lang::{Datatype, Piece, Space};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::cells::{Cell, whole_element};
use crate::node::{Node, any_overlap};

/// The number of random places that are tried for an operand.
const TRIES: usize = 12;

/// How an operand is used, which decides the places that suit it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// The operand is read, so its bytes must have been written.
    Read,
    /// The operand is a divisor, so none of its elements may be 0.
    Divisor,
    /// The operand is written, preferably at a place without floating-point elements.
    Write,
    /// The operand is read and written.
    Update,
}

/// Returns a buffer of `size` bytes, which is more than 0. It may have several pieces, and shares
/// no byte with `avoid`. Returns `None` if no place was found.
pub(crate) fn buffer(
    rng: &mut ChaCha8Rng,
    node: &Node,
    size: u64,
    usage: Use,
    vectors: bool,
    avoid: &[Piece],
) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut avoid = avoid.to_vec();
    for part in split(rng, size, vectors) {
        let piece = contiguous(rng, node, part, usage, &avoid)?;
        pieces.push(piece);
        avoid.push(piece);
    }
    Some(pieces)
}

/// Returns a buffer of `count` elements, more than 0, that hold numbers of a floating-point type
/// now.
pub(crate) fn typed(
    rng: &mut ChaCha8Rng,
    node: &Node,
    datatype: Datatype,
    count: u64,
    vectors: bool,
    avoid: &[Piece],
) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut avoid = avoid.to_vec();
    for part in split(rng, count, vectors) {
        let piece = typed_piece(rng, node, datatype, part, &avoid)?;
        avoid.push(piece);
        if vectors && rng.random_bool(0.3) && piece.size > 1 {
            // An element may be divided between two pieces.
            let cut = rng.random_range(1..piece.size);
            pieces.push(Piece { size: cut, ..piece });
            pieces.push(Piece { addr: piece.addr + cut, size: piece.size - cut, ..piece });
        } else {
            pieces.push(piece);
        }
    }
    Some(pieces)
}

fn split(rng: &mut ChaCha8Rng, whole: u64, vectors: bool) -> Vec<u64> {
    let mut parts = vec![whole];
    if vectors && rng.random_bool(0.3) {
        for _ in 0..rng.random_range(1..4) {
            let at = rng.random_range(0..parts.len());
            if parts[at] > 1 {
                let cut = rng.random_range(1..parts[at]);
                parts[at] -= cut;
                parts.insert(at, cut);
            }
        }
    }
    parts
}

fn contiguous(
    rng: &mut ChaCha8Rng,
    node: &Node,
    size: u64,
    usage: Use,
    avoid: &[Piece],
) -> Option<Piece> {
    let spare_floats = usage == Use::Write && rng.random_bool(0.85);
    let mut recent = node
        .recent
        .filter(|piece| piece.size == size && usage == Use::Read && rng.random_bool(0.7));
    (0..TRIES).find_map(|_| {
        let space = if rng.random_bool(0.25) { Space::Scratch } else { Space::Memory };
        let len = node.cells.space(space).len() as u64;
        let piece = match recent.take() {
            Some(piece) => piece,
            None => Piece { addr: rng.random_range(0..=len.checked_sub(size)?), size, space },
        };
        let suits = |cell: &Cell| match usage {
            Use::Read | Use::Update => cell.defined,
            Use::Divisor => cell.defined && cell.nonzero && cell.float.is_none(),
            Use::Write => !(spare_floats && cell.float.is_some()),
        };
        let free = !any_overlap(&[piece], avoid) && node.cells.of(&piece).iter().all(suits);
        free.then_some(piece)
    })
}

fn typed_piece(
    rng: &mut ChaCha8Rng,
    node: &Node,
    datatype: Datatype,
    count: u64,
    avoid: &[Piece],
) -> Option<Piece> {
    let size = count * datatype.width();
    (0..TRIES).find_map(|_| {
        let space = if rng.random_bool(0.25) { Space::Scratch } else { Space::Memory };
        let cells = node.cells.space(space);
        let last = (cells.len() as u64).checked_sub(size)?;
        // Finds the first element of the type after a random place.
        let from = rng.random_range(0..=last);
        let addr = (from..=last).find(|&at| {
            let cell = cells[at as usize];
            cell.float == Some(datatype) && cell.phase == 0
        })?;
        let piece = Piece { addr, size, space };
        let mut elements = node.cells.of(&piece).chunks(datatype.width() as usize);
        let typed = elements
            .all(|cells| cells[0].float == Some(datatype) && whole_element(cells).is_some());
        (typed && !any_overlap(&[piece], avoid)).then_some(piece)
    })
}
