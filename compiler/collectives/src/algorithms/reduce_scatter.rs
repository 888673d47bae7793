//! Reductions whose result is divided: each rank gets a block of it.

use super::in_order::combine_all;
use crate::buf::Buf;
use crate::rank::Rank;

/// Returns a buffer for the result, which the caller copies to the output at the end. In place the
/// output is part of the input, so the buffer is scratch memory.
fn result(rank: &mut Rank<'_>) -> Buf {
    match rank.is_in_place() {
        false => rank.own_output(),
        true => rank.scratch(rank.block_of(rank.me())),
    }
}

/// The sum of a block begins at the rank above the block's own rank, and goes around the ring once.
pub(super) fn ring(rank: &mut Rank<'_>) {
    let ranks = rank.ranks();
    let (mut sum, output) = (rank.input_for(rank.down(1)), rank.own_output());
    if ranks == 1 {
        return rank.copy(rank.input_for(0), output);
    }
    for step in 0..ranks - 1 {
        rank.send(sum, rank.up(1));
        let own = rank.input_for(rank.down(step + 2));
        sum = if step == ranks - 2 { result(rank) } else { rank.scratch(own.size()) };
        rank.recv(sum, rank.down(1));
        rank.combine(own, sum);
    }
    rank.copy(sum, output);
}

/// Every rank sends each other rank its block, and combines what it gets. In place, the output may
/// share some bytes with the own block if blocks have different sizes.
pub(super) fn pairwise(rank: &mut Rank<'_>) {
    let (ranks, me, output) = (rank.ranks(), rank.me(), rank.own_output());
    for distance in 1..ranks {
        rank.send(rank.input_for(rank.up(distance)), rank.up(distance));
    }
    let sum = if rank.has_equal_blocks() { output } else { result(rank) };
    combine_all(rank, ranks, rank.input_for(me), sum);
    rank.copy(sum, output);
}

/// In each round pairs of ranks exchange half of what they still have.
pub(super) fn halving(rank: &mut Rank<'_>) {
    let (me, ranks) = (rank.me(), rank.ranks());
    // The end of each block in the sums, if blocks don't lie one behind the other.
    let mut end = 0;
    let listed = if rank.has_packed_blocks() { 0 } else { ranks };
    let ends: Vec<u64> = (0..listed)
        .map(|number| {
            end += rank.block_of(number);
            end
        })
        .collect();
    let edge = |rank: &Rank<'_>, number: u32| match number.checked_sub(1) {
        None => 0,
        Some(_) if ends.is_empty() => rank.bytes_of(0, number),
        Some(last) => ends[last as usize],
    };
    let sums = rank.scratch(edge(rank, ranks));
    let mut at = sums.address();
    for part in rank.circle(0, ranks, |number| rank.input_for(number)) {
        let to = at.part(0, part.size());
        rank.copy(part, to);
        at.addr += part.size();
    }
    for unit in (0..ranks.ilog2()).rev().map(|bit| 1u32 << bit) {
        let own = me & !(unit - 1);
        let group = |rank: &Rank<'_>, first: u32| {
            let start = edge(rank, first);
            sums.part(start, edge(rank, first + unit) - start)
        };
        let (kept, given) = (group(rank, own), group(rank, own ^ unit));
        rank.send(given, me ^ unit);
        let arrived = rank.scratch(kept.size());
        rank.recv(arrived, me ^ unit);
        rank.combine(arrived, kept);
    }
    let own = sums.part(edge(rank, me), rank.block_of(me));
    rank.copy(own, rank.own_output());
}
