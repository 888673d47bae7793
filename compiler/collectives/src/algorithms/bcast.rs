//! Broadcasts. The place of a rank is its distance above the root, in the circle of all ranks.

use super::parts::{chunk, chunks, ring_steps};
use super::tree::{at, family, place, span};
use crate::buf::Buf;
use crate::rank::Rank;

/// Returns the buffer that a rank sends from: the input at the root, which also copies it to its
/// output, and the output at others.
fn source(rank: &mut Rank<'_>) -> Buf {
    let (input, output) = (rank.input(1), rank.output(1));
    if !rank.is_root() {
        return output;
    }
    rank.copy(input, output);
    input
}

pub(super) fn linear(rank: &mut Rank<'_>) {
    let (buf, root) = (source(rank), rank.root());
    if !rank.is_root() {
        return rank.recv(buf, root);
    }
    for to in 1..rank.ranks() {
        rank.send(buf, at(rank, root, to));
    }
}

pub(super) fn binomial(rank: &mut Rank<'_>) {
    let (buf, root) = (source(rank), rank.root());
    down_the_tree(rank, buf, root, 2);
}

pub(super) fn k_nomial(rank: &mut Rank<'_>) {
    let (buf, root) = (source(rank), rank.root());
    down_the_tree(rank, buf, root, u64::from(rank.request.degree) + 1);
}

/// Sends the block down a tree of places, which are written in base `radix`. A place gets the block
/// from the place that has 0 instead of its lowest digit that is not 0. It then sends the block to
/// the places that differ from it in one lower digit, the farthest first.
pub(super) fn down_the_tree(rank: &mut Rank<'_>, buf: Buf, root: u32, radix: u64) {
    let (place, ranks) = (u64::from(place(rank, root)), u64::from(rank.ranks()));
    let mut unit = 1;
    while unit < ranks && place % (unit * radix) == 0 {
        unit *= radix;
    }
    if place > 0 {
        let parent = place - place % (unit * radix);
        rank.recv(buf, at(rank, root, parent as u32));
    }
    while unit > 1 {
        unit /= radix;
        let last = ((ranks - 1 - place) / unit).min(radix - 1);
        for digit in (1..=last).rev() {
            let child = place + digit * unit;
            rank.send(buf, at(rank, root, child as u32));
        }
    }
}

pub(super) fn chain(rank: &mut Rank<'_>) {
    pipeline(rank, rank.block());
}

pub(super) fn pipelined_chain(rank: &mut Rank<'_>) {
    let segment = super::parts::segment(rank, rank.block(), 64 << 10);
    pipeline(rank, segment);
}

/// The block goes from rank to rank in segments.
fn pipeline(rank: &mut Rank<'_>, segment: u64) {
    let (buf, root) = (source(rank), rank.root());
    let (place, last) = (place(rank, root), rank.ranks() - 1);
    for part in chunks(buf, segment) {
        if place > 0 {
            rank.recv(part, at(rank, root, place - 1));
        }
        if place < last {
            rank.send(part, at(rank, root, place + 1));
        }
    }
}

pub(super) fn scatter_ring(rank: &mut Rank<'_>) {
    let (buf, root) = (source(rank), rank.root());
    let (place, ranks) = (place(rank, root), rank.ranks());
    scatter(rank, buf, root);
    // In step s a rank passes on the chunk of the place s below it, unless the receiver has it
    // already.
    let has = |place: u32, number: u32| number >= place && number - place < span(place, ranks);
    for step in ring_steps(rank, buf, place) {
        let (next, number) = ((place + 1) % ranks, (place + ranks - step) % ranks);
        if !has(next, number) {
            rank.send(chunk(rank, buf, number), at(rank, root, next));
        }
        let (before, number) = ((place + ranks - 1) % ranks, (place + ranks - step - 1) % ranks);
        if !has(place, number) {
            rank.recv(chunk(rank, buf, number), at(rank, root, before));
        }
    }
}

pub(super) fn scatter_doubling(rank: &mut Rank<'_>) {
    let (buf, root) = (source(rank), rank.root());
    let (place, ranks) = (place(rank, root), rank.ranks());
    scatter(rank, buf, root);
    for unit in (0..ranks.ilog2()).map(|bit| 1u32 << bit) {
        // Each half of a group gets the chunks of the other half, if it does not have them.
        let (other, own) = (place ^ unit, place & !(unit - 1));
        let theirs = own ^ unit;
        // A scatter brings all chunks of a group or none.
        let needs = |place: u32, first: u32| first < place || first - place >= span(place, ranks);
        let group = |rank: &Rank<'_>, first: u32| {
            chunk(rank, buf, first).until(chunk(rank, buf, first + unit - 1))
        };
        if needs(other, own) {
            rank.send(group(rank, own), at(rank, root, other));
        }
        if needs(place, theirs) {
            rank.recv(group(rank, theirs), at(rank, root, other));
        }
    }
}

/// A place gets the chunks of its subtree, and passes on to each child the chunks of the child's
/// subtree.
fn scatter(rank: &mut Rank<'_>, buf: Buf, root: u32) {
    let (place, ranks) = (place(rank, root), rank.ranks());
    let (children, parent) = family(place, ranks);
    let subtree = |rank: &Rank<'_>, first: u32| {
        let (start, end) =
            (chunk(rank, buf, first), chunk(rank, buf, first + span(first, ranks) - 1));
        start.until(end)
    };
    if let Some(parent) = parent {
        rank.recv(subtree(rank, place), at(rank, root, parent));
    }
    for child in children.into_iter().rev() {
        rank.send(subtree(rank, child), at(rank, root, child));
    }
}
