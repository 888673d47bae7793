//! Generates local operations.

use goal_lang::{Action, Datatype, Op, Piece, is_legal};
use rand::RngExt;
use rand::seq::IndexedRandom;

use crate::cells::{Cell, whole_element};
use crate::generator::Generator;
use crate::node::{Node, any_overlap};
use crate::operands::{Use, buffer, typed};

/// The buffers of an operation.
pub(crate) struct Operands {
    pub(crate) a: Vec<Piece>,
    pub(crate) b: Vec<Piece>,
    pub(crate) c: Option<Vec<Piece>>,
}

/// Adds a random operation on one node, if operands are found.
pub(crate) fn event(generator: &mut Generator) {
    let node = generator.any_node();
    let op = *Op::ALL.choose(&mut generator.rng).expect("there are opcodes");
    let legal = |datatype: &&Datatype| {
        is_legal(op, **datatype) && (generator.shape.floats || !datatype.is_float())
    };
    let datatypes: Vec<Datatype> = Datatype::ALL.iter().filter(legal).copied().collect();
    let datatype = *datatypes.choose(&mut generator.rng).expect("every opcode has a datatype");
    let size = generator.size_on(node, generator.shape.operand_max);
    let count = (size / datatype.width()).max(1);
    let Some(operands) = operands(generator, node, (op, datatype), count, true) else { return };
    let cells = &generator.nodes[node].cells;
    let result = result_cells(op, datatype, &cells.read(&operands.a), &cells.read(&operands.b));
    if let Some(result) = result {
        add(&mut generator.nodes[node], op, datatype, &operands, &result);
    }
}

/// Adds an operation, and stores the facts about its result.
pub(crate) fn add(
    node: &mut Node,
    op: Op,
    datatype: Datatype,
    operands: &Operands,
    result: &[Cell],
) -> usize {
    let Operands { a, b, c } = operands;
    let mut reads = a.clone();
    if op != Op::Copy {
        reads.extend(b);
    }
    let written = c.as_ref().unwrap_or(b);
    let action = action(node, op, datatype, operands);
    let index = node.add(action, &reads, written);
    node.cells.write(written, result);
    index
}

fn action(node: &mut Node, op: Op, datatype: Datatype, operands: &Operands) -> Action {
    let Operands { a, b, c } = operands;
    let no_c = Vec::new();
    let c_pieces = c.as_ref().unwrap_or(&no_c);
    match (a.as_slice(), b.as_slice(), c_pieces.as_slice()) {
        ([a], [b], rest) if rest.len() <= 1 => {
            let c = rest.first();
            Action::Exec {
                op,
                datatype,
                spaces: [a.space, b.space, c.map_or(goal_lang::Space::Memory, |c| c.space)],
                has_c: c.is_some(),
                a: a.addr,
                b: b.addr,
                c: c.map_or(0, |c| c.addr),
                size: a.size,
            }
        }
        _ => {
            let operands = [node.pieces(a), node.pieces(b), node.pieces(c_pieces)];
            Action::ExecVector { op, datatype, operands }
        }
    }
}

/// Returns buffers for `count` elements. Only if `any_form` is true, they may be scattered and
/// there may be a third one.
pub(crate) fn operands(
    generator: &mut Generator,
    node: usize,
    (op, datatype): (Op, Datatype),
    count: u64,
    any_form: bool,
) -> Option<Operands> {
    let vectors = any_form && generator.shape.vectors;
    let size = count * datatype.width();
    let Generator { rng, nodes, .. } = generator;
    let node = &nodes[node];
    if op == Op::Copy {
        let a = buffer(rng, node, size, Use::Read, vectors, &[])?;
        let same = rng.random_bool(0.1);
        let b = if same { a.clone() } else { buffer(rng, node, size, Use::Write, vectors, &a)? };
        return Some(Operands { a, b, c: None });
    }
    let (a, b) = if datatype.is_float() {
        let a = typed(rng, node, datatype, count, vectors, &[])?;
        let same = rng.random_bool(0.15);
        let b = if same { a.clone() } else { typed(rng, node, datatype, count, vectors, &a)? };
        (a, b)
    } else {
        let usage = if op == Op::Div { Use::Divisor } else { Use::Update };
        let b = buffer(rng, node, size, usage, vectors, &[])?;
        let same = rng.random_bool(0.15);
        let a = if same { b.clone() } else { buffer(rng, node, size, Use::Read, vectors, &b)? };
        (a, b)
    };
    let c = if any_form && rng.random_bool(0.4) {
        let both: Vec<Piece> = a.iter().chain(&b).copied().collect();
        Some(match rng.random_range(0..6) {
            0 => a.clone(),
            1 => b.clone(),
            _ => buffer(rng, node, size, Use::Write, vectors, &both)?,
        })
    } else {
        None
    };
    debug_assert!(a == b || !any_overlap(&a, &b), "operands overlap in part");
    Some(Operands { a, b, c })
}

/// Returns the facts about the result of operands with the given facts. Returns `None` if
/// floating-point numbers could leave the ordinary range, or an element could be divided by 0.
pub(crate) fn result_cells(
    op: Op,
    datatype: Datatype,
    a: &[Cell],
    b: &[Cell],
) -> Option<Vec<Cell>> {
    if op == Op::Copy {
        return Some(a.to_vec());
    }
    if !datatype.is_float() {
        return Some(vec![Cell::PLAIN; a.len()]);
    }
    let limit = match datatype {
        Datatype::Float16 => 15,
        Datatype::Float32 => 120,
        _ => 200,
    };
    let width = datatype.width() as usize;
    let mut result = Vec::with_capacity(a.len());
    for (a, b) in a.chunks(width).zip(b.chunks(width)) {
        debug_assert!(
            whole_element(a).is_some() && whole_element(b).is_some(),
            "operands hold numbers"
        );
        let (magnitude, nonzero) = match op {
            Op::Max | Op::Min => (a[0].magnitude.max(b[0].magnitude), a[0].nonzero && b[0].nonzero),
            Op::Sum | Op::Sub => (a[0].magnitude.max(b[0].magnitude) + 1, false),
            Op::Prod => (a[0].magnitude + b[0].magnitude, a[0].nonzero && b[0].nonzero),
            Op::Div => (a[0].magnitude, false),
            _ => (0, false),
        };
        if magnitude > limit || op == Op::Div && !b[0].nonzero {
            return None;
        }
        result.extend(Cell::elements(datatype, 1, magnitude, nonzero));
    }
    Some(result)
}
