//! Generates messages that carry an operation.

use goal_lang::{Datatype, Op, Payload, Piece, is_legal};
use rand::RngExt;
use rand::seq::IndexedRandom;

use crate::cells::{Cell, whole_element};
use crate::generator::Generator;
use crate::local::{self, Operands, operands, result_cells};
use crate::operands::{Use, buffer, typed};

/// Returns the payload of a send that computes B = A F B and sends B, with the buffers A and B.
/// Stores the facts about B.
pub(crate) fn sent(
    generator: &mut Generator,
    from: usize,
    size: u64,
) -> Option<(Payload, Piece, Piece)> {
    let (op, datatype) = function(generator, size)?;
    let operands = operands(generator, from, (op, datatype), size / datatype.width(), false)?;
    let (a, b) = (operands.a[0], operands.b[0]);
    let node = &mut generator.nodes[from];
    let result = result_cells(op, datatype, node.cells.of(&a), node.cells.of(&b))?;
    node.cells.write(&[b], &result);
    let operands = node.pieces(&[b, a]).first;
    Some((Payload::Reduced { op, datatype, operands }, a, b))
}

/// Returns the payload of a receive that computes B = message F B, with the buffer B and the facts
/// about B afterwards. `message` has the facts about the message.
pub(crate) fn received(
    generator: &mut Generator,
    to: usize,
    message: &[Cell],
    avoid: &[Piece],
) -> Option<(Payload, Piece, Vec<Cell>)> {
    let (op, datatype) = function(generator, message.len() as u64)?;
    let b = accumulator(generator, to, (op, datatype), message, avoid)?;
    let result = result_cells(op, datatype, message, generator.nodes[to].cells.of(&b))?;
    Some((reduced(generator, to, op, datatype, b), b, result))
}

/// Adds an operation B = A F B, where A are the bytes of a received message.
pub(crate) fn combine(generator: &mut Generator, node: usize, a: Piece) -> Option<()> {
    let (op, datatype) = function(generator, a.size)?;
    let message = generator.nodes[node].cells.read(&[a]);
    let b = accumulator(generator, node, (op, datatype), &message, &[a])?;
    let cells = &generator.nodes[node].cells;
    let result = result_cells(op, datatype, &message, cells.of(&b))?;
    let operands = Operands { a: vec![a], b: vec![b], c: None };
    local::add(&mut generator.nodes[node], op, datatype, &operands, &result);
    Some(())
}

/// Returns a buffer that can be combined with another one. The facts `first` hold for the latter.
fn accumulator(
    generator: &mut Generator,
    node: usize,
    (op, datatype): (Op, Datatype),
    first: &[Cell],
    avoid: &[Piece],
) -> Option<Piece> {
    let size = first.len() as u64;
    let Generator { rng, nodes, .. } = generator;
    let node = &nodes[node];
    let pieces = if datatype.is_float() {
        let mut elements = first.chunks(datatype.width() as usize);
        if !elements.all(|cells| cells[0].float == Some(datatype) && whole_element(cells).is_some())
        {
            return None;
        }
        typed(rng, node, datatype, size / datatype.width(), false, avoid)?
    } else {
        let usage = if op == Op::Div { Use::Divisor } else { Use::Update };
        buffer(rng, node, size, usage, false, avoid)?
    };
    Some(pieces[0])
}

/// Returns the payload of a receive that combines its message with `b`.
pub(crate) fn reduced(
    generator: &mut Generator,
    to: usize,
    op: Op,
    datatype: Datatype,
    b: Piece,
) -> Payload {
    let operands = generator.nodes[to].pieces(&[b]).first;
    Payload::Reduced { op, datatype, operands }
}

/// Returns an operation and a datatype for `size` bytes, which is more than 0.
fn function(generator: &mut Generator, size: u64) -> Option<(Op, Datatype)> {
    let floats = generator.shape.floats;
    let op = *Op::ALL.choose(&mut generator.rng).filter(|&&op| op != Op::Copy)?;
    let fits = |datatype: &&Datatype| {
        is_legal(op, **datatype)
            && size.is_multiple_of(datatype.width())
            && (floats || !datatype.is_float())
    };
    let datatypes: Vec<Datatype> = Datatype::ALL.iter().filter(fits).copied().collect();
    // The widest possible type is preferred, because few sizes fit it.
    let widest = datatypes.iter().map(|datatype| datatype.width()).max()?;
    let wide: Vec<Datatype> =
        datatypes.iter().filter(|datatype| datatype.width() == widest).copied().collect();
    let from = if generator.rng.random() { &wide } else { &datatypes };
    Some((op, *from.choose(&mut generator.rng)?))
}
