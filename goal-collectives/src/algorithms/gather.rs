//! Gathers and scatters.

use super::bcast::{at, place};
use crate::rank::{Buf, Rank};

/// Copies the root's own block to its place.
fn keep_own(rank: &mut Rank<'_>) {
    rank.copy(rank.input(1), rank.output_of(rank.me));
}

pub(super) fn linear(rank: &mut Rank<'_>) {
    let root = rank.request.root;
    if !rank.is_root() {
        return rank.send(rank.input(1), root);
    }
    keep_own(rank);
    for other in (0..rank.ranks()).filter(|&other| other != root) {
        rank.recv(rank.output_of(other), other);
    }
}

/// A rank sends when the root is ready for it: a first segment, then the rest.
pub(super) fn synchronised(rank: &mut Rank<'_>) {
    let (root, block) = (rank.request.root, rank.block());
    // The thresholds of Open MPI's decision, in bytes of a block (thesis 5.5).
    let default = if block > 92_160 { 32_768 } else { 1024 };
    let first = super::parts::segment(rank, default).min(block);
    let parts = |buf: Buf| (buf.part(0, first), buf.part(first, block - first));
    let nothing = rank.output(0);
    if !rank.is_root() {
        let (first, rest) = parts(rank.input(1));
        let ready = rank.await_signal(nothing, root);
        let begun = rank.signal(first, root);
        rank.after(begun, ready);
        if rest.size() > 0 {
            let rest = rank.signal(rest, root);
            rank.after(rest, begun);
        }
        return;
    }
    keep_own(rank);
    for other in (0..rank.ranks()).filter(|&other| other != root) {
        let (first, rest) = parts(rank.output_of(other));
        // The receive starts before the signal that allows its message.
        let posted = rank.await_signal(first, other);
        let ready = rank.signal(nothing, other);
        rank.after_start(ready, posted);
        rank.recv(rest, other);
    }
}

/// The subtree of a place in a binomial tree: as many places from it on.
fn span(place: u32, ranks: u32) -> u32 {
    let low = if place == 0 { ranks } else { place & place.wrapping_neg() };
    low.min(ranks - place)
}

/// Returns the blocks of `count` places as parts of a buffer of all ranks' blocks, each with its
/// number of blocks. There are two parts if the last rank is among the places.
fn in_ranks(rank: &Rank<'_>, all: Buf, first: u32, count: u32) -> Vec<(u32, Buf)> {
    let (block, ranks) = (rank.block(), rank.ranks());
    let start = at(rank, rank.request.root, first);
    let before_end = count.min(ranks - start);
    let part = |from: u32, count: u32| all.part(u64::from(from) * block, u64::from(count) * block);
    let mut parts = vec![(before_end, part(start, before_end))];
    if before_end < count {
        parts.push((count - before_end, part(0, count - before_end)));
    }
    parts
}

/// Returns the children of a place and its parent, in a binomial tree.
fn family(place: u32, ranks: u32) -> (Vec<u32>, Option<u32>) {
    let low = if place == 0 { ranks.next_power_of_two() } else { place & place.wrapping_neg() };
    let children = (0..low.ilog2()).rev().map(|bit| place + (1 << bit));
    let parent = (place > 0).then(|| place - low);
    (children.filter(|&child| child < ranks).collect(), parent)
}

/// The blocks of a subtree, in the order of places, as messages to or from its parent. The root has
/// them in the order of ranks, so that a part may begin there again.
fn messages(rank: &Rank<'_>, subtree: Buf, first: u32, to_root: bool) -> Vec<Buf> {
    if !to_root {
        return vec![subtree];
    }
    let (block, count) = (rank.block(), span(first, rank.ranks()));
    let mut done = 0;
    let parts = in_ranks(rank, rank.output(rank.ranks()), first, count);
    parts
        .into_iter()
        .map(|(count, _)| {
            let part = subtree.part(done, u64::from(count) * block);
            done += part.size();
            part
        })
        .collect()
}

pub(super) fn binomial(rank: &mut Rank<'_>) {
    let (root, ranks, block) = (rank.request.root, rank.ranks(), rank.block());
    let place = place(rank, root);
    let (children, parent) = family(place, ranks);
    let Some(parent) = parent else {
        keep_own(rank);
        for child in children {
            let all = rank.output(ranks);
            for (_, part) in in_ranks(rank, all, child, span(child, ranks)) {
                rank.recv(part, at(rank, root, child));
            }
        }
        return;
    };
    let mut subtree = rank.input(1);
    if !children.is_empty() {
        let own = subtree;
        subtree = rank.scratch(u64::from(span(place, ranks)) * block);
        rank.copy(own, subtree.part(0, block));
        for child in children {
            let part = subtree
                .part(u64::from(child - place) * block, u64::from(span(child, ranks)) * block);
            rank.recv(part, at(rank, root, child));
        }
    }
    for message in messages(rank, subtree, place, parent == 0) {
        rank.send(message, at(rank, root, parent));
    }
}

pub(super) fn scatter_linear(rank: &mut Rank<'_>) {
    let root = rank.request.root;
    if !rank.is_root() {
        return rank.recv(rank.output(1), root);
    }
    keep_part(rank);
    for other in (0..rank.ranks()).filter(|&other| other != root) {
        rank.send(rank.input_for(other), other);
    }
}

/// Copies the root's own block to its output; in place it stays where it is.
fn keep_part(rank: &mut Rank<'_>) {
    if rank.request.input.is_some() {
        rank.copy(rank.input_for(rank.me), rank.output(1));
    }
}

pub(super) fn scatter_binomial(rank: &mut Rank<'_>) {
    let (root, ranks, block) = (rank.request.root, rank.ranks(), rank.block());
    let place = place(rank, root);
    let (children, parent) = family(place, ranks);
    let Some(parent) = parent else {
        keep_part(rank);
        for child in children {
            let all = rank.input(ranks);
            for (_, part) in in_ranks(rank, all, child, span(child, ranks)) {
                rank.send(part, at(rank, root, child));
            }
        }
        return;
    };
    let output = rank.output(1);
    let subtree = if children.is_empty() {
        output
    } else {
        rank.scratch(u64::from(span(place, ranks)) * block)
    };
    for message in messages(rank, subtree, place, parent == 0) {
        rank.recv(message, at(rank, root, parent));
    }
    for child in children {
        let part =
            subtree.part(u64::from(child - place) * block, u64::from(span(child, ranks)) * block);
        rank.send(part, at(rank, root, child));
    }
    rank.copy(subtree.part(0, block), output);
}
