//! Algorithms for ranks that can read each other's memory. Each rank makes a slice of the result
//! straight from the operands of the others, and then gets the other slices straight from those
//! that made them.

use super::in_order;
use super::parts::{Filled, chunk, chunk_of, chunks, segment};
use super::tree::{at, place};
use crate::buf::Buf;
use crate::rank::Rank;

/// The default size of a segment in bytes. It is so small that a segment is still in a cache when
/// it is sent after it was combined.
const SEGMENT: u64 = 128 << 10;

/// Combines the parts that all other ranks send with `own`, in `sum`. Messages are combined where
/// the result lies. If the operation commutes, a rank begins with its neighbour, so that not all
/// read from the same rank at once.
fn combine_all(rank: &mut Rank<'_>, own: Buf, sum: Buf) {
    if !rank.request.commutes() {
        return in_order::combine_all(rank, rank.ranks(), own, sum);
    }
    let mut others = (1..rank.ranks()).map(|distance| rank.down(distance)).collect::<Vec<_>>();
    if own != sum && others.is_empty() {
        rank.copy(own, sum);
    } else if own != sum {
        // The engine combines the message with `own` while it stores it, in one pass.
        rank.recv(sum, others.remove(0));
        rank.combine(own, sum);
    }
    for other in others {
        rank.recv_combine(sum, other);
    }
}

/// Computes this rank's part of the result in `output`. In place, the output is a part of the
/// input, which other ranks read. Only `own` is read by this rank alone.
fn combine_to(rank: &mut Rank<'_>, own: Buf, output: Buf) {
    if rank.is_in_place() && (own != output || !rank.request.commutes()) {
        let sum = rank.scratch(output.size());
        combine_all(rank, own, sum);
        rank.copy(sum, output);
    } else {
        combine_all(rank, own, output);
    }
}

pub(super) fn reduce_scatter(rank: &mut Rank<'_>) {
    for distance in 1..rank.ranks() {
        rank.send(rank.input_for(rank.up(distance)), rank.up(distance));
    }
    combine_to(rank, rank.input_for(rank.me()), rank.own_output());
}

/// Returns the segments of a rank's slice.
fn slice(rank: &Rank<'_>, block: Buf, number: u32) -> impl Iterator<Item = Buf> + use<> {
    let slice = chunk(rank, block, number);
    chunks(slice, segment(rank, slice.size(), SEGMENT))
}

/// Sends every other rank its slice of the input.
fn send_slices(rank: &mut Rank<'_>) {
    let input = rank.input(1);
    for to in Filled::new(rank, input, rank.ranks()).above(rank.me()) {
        slice(rank, input, to).for_each(|part| rank.send(part, to));
    }
}

/// Receives the slices of the other ranks.
fn recv_slices(rank: &mut Rank<'_>, output: Buf) {
    for from in Filled::new(rank, output, rank.ranks()).below(rank.me()) {
        slice(rank, output, from).for_each(|part| rank.recv(part, from));
    }
}

pub(super) fn allreduce(rank: &mut Rank<'_>) {
    let (input, output) = (rank.input(1), rank.output(1));
    send_slices(rank);
    for (own, sum) in slice(rank, input, rank.me()).zip(slice(rank, output, rank.me())) {
        combine_to(rank, own, sum);
        for distance in 1..rank.ranks() {
            rank.send(sum, rank.up(distance));
        }
    }
    recv_slices(rank, output);
}

pub(super) fn reduce(rank: &mut Rank<'_>) {
    let (input, output, me) = (rank.input(1), rank.output(1), rank.me());
    send_slices(rank);
    if rank.is_root() {
        for (own, sum) in slice(rank, input, me).zip(slice(rank, output, me)) {
            combine_to(rank, own, sum);
        }
        return recv_slices(rank, output);
    }
    for own in slice(rank, input, me) {
        let sum = rank.scratch(own.size());
        combine_all(rank, own, sum);
        rank.send(sum, rank.root());
    }
}

/// The root's block goes to the others in slices, which they exchange.
pub(super) fn bcast(rank: &mut Rank<'_>) {
    let (root, others) = (rank.root(), rank.ranks() - 1);
    let (place, output) = (place(rank, root), rank.output(1));
    let slice = |rank: &Rank<'_>, buf: Buf, place: u32| chunk_of(rank, buf, place - 1, others);
    if place == 0 {
        let input = rank.input(1);
        rank.copy(input, output);
        // There is no chunk `others`, so the chunks above it are all.
        for number in Filled::new(rank, input, others).above(others) {
            rank.send(slice(rank, input, number + 1), at(rank, root, number + 1));
        }
        return;
    }
    let own = slice(rank, output, place);
    if own.size() == 0 {
        for number in Filled::new(rank, output, others).below(place - 1) {
            rank.recv(slice(rank, output, number + 1), at(rank, root, number + 1));
        }
        return;
    }
    rank.recv(own, root);
    for distance in 1..others {
        let to = (place - 1 + distance) % others + 1;
        let from = (place - 1 + others - distance) % others + 1;
        rank.send(own, at(rank, root, to));
        rank.recv(slice(rank, output, from), at(rank, root, from));
    }
}
