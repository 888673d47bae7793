//! Generates messages whose receives name their source.

use goal_lang::{ANY, Action, Payload, Piece};
use rand::RngExt;

use crate::cells::Cell;
use crate::generator::{End, Generator, PairMode};
use crate::operands::{Use, buffer};
use crate::reduce;

/// Adds a message between two nodes. If a node stands for several ranks, adds one message for each
/// of them.
pub(crate) fn event(generator: &mut Generator) {
    let Some((from, to)) = ends(generator) else { return };
    let mode = generator.mode(from, to, None);
    let tag = generator.tag_base + generator.rng.random_range(0..4);
    let size = if generator.rng.random_bool(0.05) {
        0
    } else {
        generator.size_on(from, generator.shape.message_max)
    };
    let sources = generator.nodes[from].members.clone();
    let destinations = generator.nodes[to].members.clone();

    let mut sends = Vec::new();
    let mut sent_pieces = Vec::new();
    // All receivers have the same body, so only facts that hold for all messages are known.
    let mut cells: Option<Vec<Cell>> = None;
    let mut all_addressed = true;
    for &destination in &destinations {
        let Sent { payload, pieces, first } = sent(generator, from, size);
        let placement = generator.placement();
        let action = Action::Send { payload, to: destination, tag, placement };
        let node = &mut generator.nodes[from];
        all_addressed &= !pieces.is_empty();
        let these = node.cells.read(&pieces);
        let (reads, writes) = match first {
            Some(first) => (vec![first, pieces[0]], pieces.clone()),
            None => (pieces.clone(), Vec::new()),
        };
        cells = Some(match cells {
            Some(others) => others.into_iter().zip(these).map(|(a, b)| a.either(b)).collect(),
            None => these,
        });
        sends.push(node.add(action, &reads, &writes));
        sent_pieces.extend(reads);
    }
    let cells = cells.filter(|_| all_addressed);

    // Receives of one event must not wait for each other, or for sends of the same event.
    let mut taken = if from == to { sent_pieces } else { Vec::new() };
    let (mut recvs, mut brought) = (Vec::new(), Vec::new());
    for &source in &sources {
        let Received { payload, pieces, reduced } =
            received(generator, to, size, cells.as_deref(), mode, &taken);
        let placement = generator.placement();
        let any_tag = mode == PairMode::Ordered
            && generator.shape.wildcards
            && generator.rng.random_bool(0.4);
        let action =
            Action::Recv { payload, from: source, tag: if any_tag { ANY } else { tag }, placement };
        let reads: &[Piece] = if reduced.is_some() { &pieces } else { &[] };
        recvs.push(generator.nodes[to].add(action, reads, &pieces));
        if !pieces.is_empty() {
            let stored = reduced.or_else(|| cells.clone());
            let stored = stored.unwrap_or_else(|| vec![Cell::PLAIN; size as usize]);
            generator.nodes[to].cells.write(&pieces, &stored);
        }
        if let [piece] = pieces[..] {
            brought.push(piece);
        }
        taken.extend(pieces);
    }

    for piece in brought {
        if generator.shape.reductions && generator.rng.random_bool(0.3) {
            reduce::combine(generator, to, piece);
        }
    }

    let key = (mode == PairMode::Tagged).then_some(tag);
    for (nth, &source) in sources.iter().enumerate() {
        for (mth, &destination) in destinations.iter().enumerate() {
            let send = End { node: from, rank: source, action: sends[mth] };
            let recv = End { node: to, rank: destination, action: recvs[nth] };
            generator.order_message(send, recv, key);
        }
    }
    if from == to && generator.shape.start_dependencies && generator.rng.random_bool(0.3) {
        let (send, recv) = (sends[0], recvs[0]);
        let (waiter, other) = if generator.rng.random() { (send, recv) } else { (recv, send) };
        generator.nodes[from].require_start(waiter, other);
    }
}

/// Returns two nodes. At least one of them is a single rank.
fn ends(generator: &mut Generator) -> Option<(usize, usize)> {
    for _ in 0..20 {
        let (from, to) = (generator.any_node(), generator.any_node());
        let single = |node: usize| generator.nodes[node].members.len() == 1;
        let fits = if from == to {
            single(from) && generator.shape.self_messages
        } else {
            single(from) || single(to)
        };
        if fits && generator.sink != Some(to) {
            return Some((from, to));
        }
    }
    None
}

/// The payload of a send.
struct Sent {
    payload: Payload,
    /// The bytes that are sent. Empty for a pattern.
    pieces: Vec<Piece>,
    /// The first operand, if the send computes its bytes. `None` otherwise.
    first: Option<Piece>,
}

fn sent(generator: &mut Generator, from: usize, size: u64) -> Sent {
    let pattern = size == 0 || generator.shape.patterns && generator.rng.random_bool(0.25);
    if !pattern {
        if generator.shape.reductions
            && generator.rng.random_bool(0.25)
            && let Some((payload, a, b)) = reduce::sent(generator, from, size)
        {
            return Sent { payload, pieces: vec![b], first: Some(a) };
        }
        let node = &generator.nodes[from];
        let vectors = generator.shape.vectors;
        if let Some(pieces) = buffer(&mut generator.rng, node, size, Use::Read, vectors, &[]) {
            return Sent { payload: generator.nodes[from].payload(&pieces), pieces, first: None };
        }
    }
    Sent { payload: Payload::Pattern { size }, pieces: Vec::new(), first: None }
}

/// The payload of a receive.
struct Received {
    payload: Payload,
    /// The buffer of the receive. Empty if the receive has only a size.
    pieces: Vec<Piece>,
    /// The facts about the buffer afterwards, if the receive combines it with the message. `None`
    /// otherwise.
    reduced: Option<Vec<Cell>>,
}

/// Returns the payload of a receive. The message has bytes with the facts `cells`, or is a pattern.
fn received(
    generator: &mut Generator,
    to: usize,
    size: u64,
    cells: Option<&[Cell]>,
    mode: PairMode,
    avoid: &[Piece],
) -> Received {
    // The bytes of a pattern depend on the number of the message among all messages of the pair of
    // ranks. This number is known only if these messages are ordered.
    let stored = size > 0
        && if cells.is_some() {
            !generator.rng.random_bool(0.1) || !generator.shape.patterns
        } else {
            mode == PairMode::Ordered && generator.rng.random_bool(0.3)
        };
    if stored {
        if generator.shape.reductions && generator.rng.random_bool(0.25) {
            let plain = vec![Cell::PLAIN; size as usize];
            let reduced = reduce::received(generator, to, cells.unwrap_or(&plain), avoid);
            if let Some((payload, b, result)) = reduced {
                return Received { payload, pieces: vec![b], reduced: Some(result) };
            }
        }
        let node = &generator.nodes[to];
        let vectors = generator.shape.vectors;
        if let Some(pieces) = buffer(&mut generator.rng, node, size, Use::Write, vectors, avoid) {
            return Received {
                payload: generator.nodes[to].payload(&pieces),
                pieces,
                reduced: None,
            };
        }
    }
    Received { payload: Payload::Pattern { size }, pieces: Vec::new(), reduced: None }
}
