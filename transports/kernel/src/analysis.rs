//! Analyses the graphs of all ranks before they are translated for the kernel. It finds
//!
//! - the actions that the kernel refuses,
//! - the messages that leave a rank,
//! - the acknowledgements that a schedule needs,
//! - the contiguous pieces of an operation, and
//! - the memory that a rank reads and writes.

use crate::graph::{Exec, Graph, Hand, Node, Payload, Work};
use crate::layout::NONE;
use crate::limits::{FRAGMENTS_MAX, PART_BYTES};
use crate::matching::Matching;
use crate::reason::Reason;
use goal_lang::{Op, Piece, Space};
use std::collections::BTreeSet;
use std::ops::Range;

/// Returns the most bytes of a message of the engine, which has a bit for each of its frames.
pub(crate) fn portion_bytes(fragment: u32) -> u32 {
    FRAGMENTS_MAX * fragment
}

/// Returns the number of the engine's messages that carry a message of the schedule.
pub(crate) fn portions(bytes: u64, fragment: u32) -> u32 {
    bytes.div_ceil(portion_bytes(fragment).into()).max(1) as u32
}

/// Returns the actions that the kernel cannot execute whatever the other actions are, each with its
/// rank and the reason.
pub(crate) fn refused(graphs: &[Graph]) -> Vec<(u32, u32, Reason)> {
    let bytes_max = u64::from(PART_BYTES);
    let mut refused = Vec::new();
    for (rank, graph) in graphs.iter().enumerate() {
        for (action, node) in graph.nodes.iter().enumerate() {
            let reason = match &node.work {
                Work::Refused(reason) => Some(*reason),
                Work::Send { payload, .. } | Work::Recv { payload, .. } => {
                    let bytes = payload.bytes();
                    (bytes > bytes_max).then_some(Reason::LongMessage { bytes, bytes_max })
                }
                Work::Exec(_) | Work::Nothing | Work::Handed(_) => None,
            };
            refused.extend(reason.map(|reason| (rank as u32, action as u32, reason)));
        }
    }
    refused
}

/// Numbers the sends and the receives that each rank exchanges with other ranks. Returns, by rank
/// and action, the number of the message's first portion, or [`NONE`]. Further portions have the
/// next numbers.
pub(crate) fn numbers(graphs: &[Graph], matching: &Matching, fragment: u32) -> Vec<Vec<u32>> {
    let of_rank = |(rank, graph): (usize, &Graph)| {
        let (mut sends, mut receives) = (0, 0);
        let number = |(action, node): (usize, &Node)| {
            let (counter, payload) = match (&node.work, matching.matches[rank][action]) {
                (_, Some(other)) if other.rank as usize == rank => return NONE,
                (Work::Send { payload, .. }, _) => (&mut sends, payload),
                (Work::Recv { payload, .. }, _) => (&mut receives, payload),
                _ => return NONE,
            };
            let first = *counter;
            *counter += portions(payload.bytes(), fragment);
            first
        };
        graph.nodes.iter().enumerate().map(number).collect()
    };
    graphs.iter().enumerate().map(of_rank).collect()
}

/// Returns the pairs (receiver, sender) that need acknowledgements. A sender may begin run e + 2
/// only once its receivers have ended run e. Some receivers must have begun run e + 1 before the
/// sender ended run e + 1. They have ended run e, so they need not send an acknowledgement.
pub(crate) fn acks(graphs: &[Graph], matching: &Matching) -> Vec<(u32, u32)> {
    let mut pairs = BTreeSet::new();
    for (rank, graph) in graphs.iter().enumerate() {
        for node in &graph.nodes {
            if let Work::Send { peer, .. } = node.work
                && peer as usize != rank
                && matching.begun[rank].binary_search(&peer).is_err()
            {
                pairs.insert((peer, rank as u32));
            }
        }
    }
    pairs.into_iter().collect()
}

/// Cuts the operands and the result of an operation into pieces that are contiguous in all three.
/// Returns `None` if an element would lie in two pieces.
pub(crate) fn segments(exec: &Exec) -> Option<Vec<[Piece; 3]>> {
    let mut lists = [exec.a.iter(), exec.b.iter(), exec.c.iter()];
    let mut heads: [Option<Piece>; 3] = lists.each_mut().map(|list| list.next().copied());
    let mut segments = Vec::new();
    while let [Some(a), Some(b), Some(c)] = heads {
        let size = a.size.min(b.size).min(c.size);
        if exec.op != Op::Copy && size % exec.datatype.width() != 0 {
            return None;
        }
        segments.push([a, b, c].map(|piece| Piece { size, ..piece }));
        for (head, list) in heads.iter_mut().zip(&mut lists) {
            let piece = head.expect("all three are there");
            *head = if piece.size == size {
                list.next().copied()
            } else {
                Some(Piece { addr: piece.addr + size, size: piece.size - size, ..piece })
            };
        }
    }
    Some(segments)
}

/// Returns three lists of bytes of the rank's memory: bytes that its actions read, bytes that they
/// write, and bytes that functions of the program may write in addition. Each list is ascending,
/// and its ranges have gaps between them.
pub(crate) fn touched(graph: &Graph) -> [Vec<Range<u64>>; 3] {
    let (mut reads, mut writes, mut perhaps) = (Vec::new(), Vec::new(), Vec::new());
    let exec = |exec: &Exec, reads: &mut Vec<Piece>, writes: &mut Vec<Piece>| {
        reads.extend(&exec.a);
        if exec.op != Op::Copy {
            reads.extend(&exec.b);
        }
        writes.extend(&exec.c);
    };
    for node in &graph.nodes {
        match &node.work {
            Work::Send { payload, before, .. } => {
                before.iter().for_each(|before| exec(before, &mut reads, &mut writes));
                if let Payload::Pieces(pieces) = payload {
                    reads.extend(pieces);
                }
            }
            Work::Recv { payload: Payload::Pieces(pieces), combine, .. } => {
                writes.extend(pieces);
                if combine.is_some() {
                    reads.extend(pieces);
                }
            }
            Work::Exec(own) => exec(own, &mut reads, &mut writes),
            Work::Handed(Hand::Time(piece)) => writes.push(*piece),
            Work::Handed(Hand::Call { a, b, .. }) => {
                // The function may write the first operand too, but hardly one does.
                reads.extend(a.iter().chain(b));
                writes.extend(b);
                perhaps.extend(a);
            }
            Work::Handed(Hand::Calc) => {}
            Work::Recv { payload: Payload::Pattern(_), .. } | Work::Nothing | Work::Refused(_) => {}
        }
    }
    [reads, writes, perhaps].map(merged)
}

/// Returns the bytes of the rank's memory that pieces occupy, as ascending ranges with gaps between
/// them.
fn merged(mut pieces: Vec<Piece>) -> Vec<Range<u64>> {
    pieces.retain(|piece| piece.space == Space::Memory && piece.size > 0);
    pieces.sort_unstable_by_key(|piece| piece.addr);
    let mut merged: Vec<Range<u64>> = Vec::new();
    for piece in pieces {
        let end = piece.addr + piece.size;
        match merged.last_mut() {
            Some(last) if piece.addr <= last.end => last.end = last.end.max(end),
            _ => merged.push(piece.addr..end),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_touch_are_one_range() {
        let piece = |addr, size, space| Piece { addr, size, space };
        let pieces = vec![
            piece(8, 4, Space::Memory),
            piece(0, 4, Space::Memory),
            piece(4, 0, Space::Memory),
            piece(2, 3, Space::Memory),
            piece(5, 3, Space::Scratch),
            piece(12, 2, Space::Memory),
        ];
        assert_eq!(merged(pieces), [0..5, 8..14]);
    }
}
