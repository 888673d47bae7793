//! Algorithms for ranks that can read each other's memory. Each rank makes a slice of the result
//! straight from the operands of the others, and then gets the other slices straight from those
//! that made them.

use super::bcast::{at, place};
use super::parts::{chunk, chunk_of};
use super::reduce_scatter::in_order;
use crate::buf::Buf;
use crate::rank::Rank;

/// Combines what every other rank sends with the own part. Each message is combined where the
/// result lies. If the operation commutes, a rank begins with its neighbour, so that not all read
/// from the same rank at once.
fn combine_all(rank: &mut Rank<'_>, own: Buf, sum: Buf) {
    if !rank.request.commutes() {
        return in_order(rank, own, sum, |rank, other| rank.recv_combine(sum, other));
    }
    rank.copy(own, sum);
    for distance in 1..rank.ranks() {
        rank.recv_combine(sum, rank.down(distance));
    }
}

/// Makes the own part of the result in `output`. In place the output is a part of the input, which
/// others read; the own part alone is read by this rank only.
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

/// Sends every other rank its slice of the input. Returns the own one.
fn send_slices(rank: &mut Rank<'_>) -> Buf {
    let input = rank.input(1);
    for distance in 1..rank.ranks() {
        let to = rank.up(distance);
        rank.send(chunk(rank, input, to), to);
    }
    chunk(rank, input, rank.me())
}

pub(super) fn allreduce(rank: &mut Rank<'_>) {
    let (own, output) = (send_slices(rank), rank.output(1));
    let sum = chunk(rank, output, rank.me());
    combine_to(rank, own, sum);
    for distance in 1..rank.ranks() {
        let (to, from) = (rank.up(distance), rank.down(distance));
        rank.send(sum, to);
        rank.recv(chunk(rank, output, from), from);
    }
}

pub(super) fn reduce(rank: &mut Rank<'_>) {
    let (own, output) = (send_slices(rank), rank.output(1));
    if !rank.is_root() {
        let sum = rank.scratch(own.size());
        combine_all(rank, own, sum);
        return rank.send(sum, rank.root());
    }
    let sum = chunk(rank, output, rank.me());
    combine_to(rank, own, sum);
    for distance in 1..rank.ranks() {
        let from = rank.down(distance);
        rank.recv(chunk(rank, output, from), from);
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
        for other in 1..=others {
            rank.send(slice(rank, input, other), at(rank, root, other));
        }
        return;
    }
    let own = slice(rank, output, place);
    rank.recv(own, root);
    for distance in 1..others {
        let to = (place - 1 + distance) % others + 1;
        let from = (place - 1 + others - distance) % others + 1;
        rank.send(own, at(rank, root, to));
        rank.recv(slice(rank, output, from), at(rank, root, from));
    }
}
