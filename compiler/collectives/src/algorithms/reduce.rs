//! Reductions to a root. If an operation does not commute, the inputs are combined in the order of
//! ranks.

use super::in_order::combine_all;
use super::parts::{chunks, segment};
use super::tree::{at, family, place};
use crate::buf::Buf;
use crate::rank::Rank;

pub(super) fn linear(rank: &mut Rank<'_>) {
    let (ranks, root, input) = (rank.ranks(), rank.root(), rank.input(1));
    if !rank.is_root() {
        return rank.send(input, root);
    }
    let output = rank.output(1);
    combine_all(rank, ranks, input, output);
}

pub(super) fn binomial(rank: &mut Rank<'_>) {
    up_the_tree(rank, rank.root());
}

/// The inputs go up a binomial tree to the rank `root`, which ends with their sum in its output.
pub(super) fn up_the_tree(rank: &mut Rank<'_>, root: u32) {
    let (place, ranks) = (place(rank, root), rank.ranks());
    let (children, parent) = family(place, ranks);
    let input = rank.input(1);
    let sum = match (place, children.is_empty()) {
        (0, _) => rank.output(1),
        (_, true) => input,
        (_, false) => rank.scratch(input.size()),
    };
    rank.copy(input, sum);
    for child in children {
        let arrived = rank.scratch(input.size());
        rank.recv(arrived, at(rank, root, child));
        rank.combine(arrived, sum);
    }
    if let Some(parent) = parent {
        rank.send(sum, at(rank, root, parent));
    }
}

/// The inputs go up a binomial tree to rank 0, which sends the result to the root. Each subtree has
/// consecutive ranks.
pub(super) fn ordered_binomial(rank: &mut Rank<'_>) {
    let (me, ranks, root) = (rank.me(), rank.ranks(), rank.root());
    let (children, parent) = family(me, ranks);
    let mut sum = rank.input(1);
    for child in children {
        let arrived = rank.scratch(sum.size());
        rank.recv(arrived, child);
        rank.combine(sum, arrived);
        sum = arrived;
    }
    if let Some(parent) = parent {
        rank.send(sum, parent);
    } else if root > 0 {
        rank.send(sum, root);
    }
    let output = rank.output(1);
    match (rank.is_root(), me) {
        (true, 0) => rank.copy(sum, output),
        (true, _) => rank.recv(output, 0),
        _ => {}
    }
}

/// The sum goes from the last rank down in segments. The chain ends at the root if the operation
/// commutes, and otherwise at rank 0, which sends the result to the root.
pub(super) fn pipelined_chain(rank: &mut Rank<'_>) {
    let (root, last) = (rank.root(), rank.ranks() - 1);
    let end = if rank.request.commutes() { root } else { 0 };
    let place = place(rank, end);
    let segment = segment(rank, rank.block(), 64 << 10);
    let own = rank.input(1);
    // In place the output is the input, so the segments that arrive lie elsewhere.
    let is_apart = place == 0 && place < last && rank.is_root() && rank.is_in_place();
    let adds_in_place = is_apart && rank.request.commutes();
    let sum = match (place, rank.is_root()) {
        (0, true) if is_apart => rank.scratch(own.size()),
        (0, true) => rank.output(1),
        _ if place == last => own,
        _ => rank.scratch(own.size()),
    };
    let parts: Vec<(Buf, Buf)> = chunks(own, segment).zip(chunks(sum, segment)).collect();
    for (number, (own, sum)) in parts.into_iter().enumerate() {
        if place == last {
            rank.copy(own, sum);
        } else {
            rank.recv(sum, at(rank, end, place + 1));
            if adds_in_place {
                rank.combine(sum, own);
                continue;
            }
            rank.combine(own, sum);
            if place == 0 && rank.is_root() {
                rank.copy(sum, rank.output(1).part(number as u64 * segment, sum.size()));
            }
        }
        if place > 0 {
            rank.send(sum, at(rank, end, place - 1));
        } else if end != root {
            rank.send(sum, root);
        }
    }
    if rank.is_root() && end != root {
        let output = rank.output(1);
        for part in chunks(output, segment) {
            rank.recv(part, end);
        }
    }
}
