//! Generates messages whose receives accept any source.
//!
//! All sends and receives of a group are one event, and no other action waits between them. So
//! every message of the group is taken, whichever receive takes it. The tag belongs to the group
//! alone, so no other receive takes one of its messages.

use goal_lang::{ANY, Action, Datatype, Op, Payload, Piece};
use rand::RngExt;
use rand::seq::IndexedRandom;

use crate::cells::Cell;
use crate::generator::{Generator, PairMode};
use crate::local::{self, Operands};
use crate::operands::{Use, buffer};
use crate::reduce;

/// The most groups in a program whose outcomes are to be listed.
const GROUPS_MAX: u32 = 2;
/// The lowest tag of groups. Other messages have lower tags.
const TAG_FIRST: u32 = 1000;
/// Operations for which the order of the messages makes no difference.
const ORDER_FREE: [Op; 7] = [Op::Sum, Op::Prod, Op::Max, Op::Min, Op::Band, Op::Bor, Op::Bxor];
const INTEGERS: [Datatype; 8] = [
    Datatype::Int8,
    Datatype::Int16,
    Datatype::Int32,
    Datatype::Int64,
    Datatype::UInt8,
    Datatype::UInt16,
    Datatype::UInt32,
    Datatype::UInt64,
];

struct Group {
    root: usize,
    any_tag: bool,
    tag: u32,
    datatype: Datatype,
    size: u64,
    /// The buffers that sends of the root read. The group's receives must not wait for these sends,
    /// which may themselves wait for the receives.
    avoid: Vec<Piece>,
    messages: usize,
}

/// Adds a few messages to one rank, which receives them from any source.
pub(crate) fn event(generator: &mut Generator) {
    let may_differ = generator.shape.outcomes_may_differ;
    if may_differ && generator.groups >= GROUPS_MAX {
        return;
    }
    let Some((root, any_tag)) = root(generator) else { return };
    let datatype = *INTEGERS.choose(&mut generator.rng).expect("there are integers");
    let count = generator
        .size(generator.shape.operand_max.min(generator.shape.message_max) / datatype.width());
    let mut group = Group {
        root,
        any_tag,
        tag: generator.tag_base + TAG_FIRST + generator.groups,
        datatype,
        size: count * datatype.width(),
        avoid: Vec::new(),
        messages: 0,
    };
    generator.groups += 1;
    let patterns = generator.shape.patterns && generator.rng.random_bool(0.2);
    // Patterns are received without storing them, as their bytes depend on the order of the
    // messages.
    if patterns || !reduction(generator, &mut group) {
        send(generator, &mut group, true);
        for _ in 0..group.messages {
            let payload = Payload::Pattern { size: group.size };
            receive(generator, &group, payload, &[], &[]);
        }
    }
}

/// Returns the node that receives. The flag is true if its receives may accept any tag.
fn root(generator: &mut Generator) -> Option<(usize, bool)> {
    if let Some(sink) = generator.sink.filter(|_| !generator.sink_used && generator.rng.random()) {
        generator.sink_used = true;
        return Some((sink, true));
    }
    let root = generator.any_node();
    let fits = generator.nodes[root].members.len() == 1 && generator.sink != Some(root);
    fits.then_some((root, false))
}

/// Adds messages with bytes, and receives into buffers. Unless outcomes may differ, the messages
/// are combined in a way that does not depend on their order. Returns false, and adds nothing, if
/// there is no room.
fn reduction(generator: &mut Generator, group: &mut Group) -> bool {
    let Generator { rng, nodes, .. } = generator;
    let root = &nodes[group.root];
    let Some(accumulator) = buffer(rng, root, group.size, Use::Update, false, &[]) else {
        return false;
    };
    let Some(first) = buffer(rng, root, group.size, Use::Write, false, &accumulator) else {
        return false;
    };
    group.avoid = accumulator.iter().chain(&first).copied().collect();
    send(generator, group, false);

    let op = *ORDER_FREE.choose(&mut generator.rng).expect("there are operations");
    let mut area = first;
    for nth in 0..group.messages {
        if generator.shape.reductions && generator.rng.random_bool(0.4) {
            let payload =
                reduce::reduced(generator, group.root, op, group.datatype, accumulator[0]);
            receive(generator, group, payload, &accumulator, &accumulator);
            continue;
        }
        if nth > 0 && generator.rng.random_bool(0.7) {
            let Generator { rng, nodes, shape, .. } = generator;
            let root = &nodes[group.root];
            if let Some(other) =
                buffer(rng, root, group.size, Use::Write, shape.vectors, &group.avoid)
            {
                group.avoid.extend(&other);
                area = other;
            }
        }
        let payload = generator.nodes[group.root].payload(&area);
        receive(generator, group, payload, &[], &area);
        if !generator.shape.outcomes_may_differ {
            let node = &mut generator.nodes[group.root];
            let cells = vec![Cell::PLAIN; group.size as usize];
            let combine = Operands { a: area.clone(), b: accumulator.clone(), c: None };
            local::add(node, op, group.datatype, &combine, &cells);
            let clear = Operands { a: area.clone(), b: area.clone(), c: None };
            local::add(node, Op::Bxor, group.datatype, &clear, &cells);
        }
    }
    true
}

/// Adds the sends of the group. No dependency orders them.
fn send(generator: &mut Generator, group: &mut Group, patterns: bool) {
    for _ in 0..generator.rng.random_range(1..=3) {
        let from = generator.any_node();
        let to_itself = from == group.root;
        if to_itself && !generator.shape.self_messages {
            continue;
        }
        if generator.mode(from, group.root, Some(PairMode::Tagged)) != PairMode::Tagged {
            continue;
        }
        let avoid = if to_itself { group.avoid.clone() } else { Vec::new() };
        let mut pieces = Vec::new();
        if !patterns {
            let Generator { rng, nodes, shape, .. } = generator;
            let found = buffer(rng, &nodes[from], group.size, Use::Read, shape.vectors, &avoid);
            let Some(found) = found else { continue };
            pieces = found;
        }
        let payload = match pieces.as_slice() {
            [] => Payload::Pattern { size: group.size },
            pieces => generator.nodes[from].payload(pieces),
        };
        let tag = if group.any_tag { generator.rng.random_range(0..5) } else { group.tag };
        let to = generator.nodes[group.root].members[0];
        let placement = generator.placement();
        generator.nodes[from].add(Action::Send { payload, to, tag, placement }, &pieces, &[]);
        group.messages += generator.nodes[from].members.len();
        if to_itself {
            group.avoid.extend(&pieces);
        }
    }
}

fn receive(
    generator: &mut Generator,
    group: &Group,
    payload: Payload,
    reads: &[Piece],
    pieces: &[Piece],
) {
    let tag = if group.any_tag { ANY } else { group.tag };
    let placement = generator.placement();
    let node = &mut generator.nodes[group.root];
    node.add(Action::Recv { payload, from: ANY, tag, placement }, reads, pieces);
    node.cells.write(
        pieces,
        &vec![Cell::PLAIN; pieces.iter().map(|piece| piece.size).sum::<u64>() as usize],
    );
}
