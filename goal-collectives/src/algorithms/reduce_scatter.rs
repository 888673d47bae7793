//! Reductions of which each rank gets a block.

use crate::rank::{Buf, Rank};

/// Returns a buffer for the result, and copies it to the output at the end. In place the output is
/// part of the input, so the result is made elsewhere.
fn result(rank: &mut Rank<'_>) -> Buf {
    match rank.request.input {
        Some(_) => rank.output(1),
        None => rank.scratch(rank.block()),
    }
}

/// The sum of a block comes from the rank above its own and goes around once.
pub(super) fn ring(rank: &mut Rank<'_>) {
    let ranks = rank.ranks();
    let (mut sum, output) = (rank.input_for(rank.down(1)), rank.output(1));
    if ranks == 1 {
        return rank.copy(rank.input_for(0), output);
    }
    for step in 0..ranks - 1 {
        rank.send(sum, rank.up(1));
        sum = if step == ranks - 2 { result(rank) } else { rank.scratch(output.size()) };
        rank.recv(sum, rank.down(1));
        rank.combine(rank.input_for(rank.down(step + 2)), sum);
    }
    rank.copy(sum, output);
}

/// Every rank sends each other rank its block, and combines what it gets from the last rank down:
/// B = A f B leaves the sum so far in one place.
pub(super) fn pairwise(rank: &mut Rank<'_>) {
    let (ranks, output) = (rank.ranks(), rank.output(1));
    for distance in 1..ranks {
        rank.send(rank.input_for(rank.up(distance)), rank.up(distance));
    }
    let sum = result(rank);
    for other in (0..ranks).rev() {
        let own = rank.input_for(rank.me);
        match (other == rank.me, other == ranks - 1) {
            (true, true) => rank.copy(own, sum),
            (true, false) => rank.combine(own, sum),
            (false, true) => rank.recv(sum, other),
            (false, false) => {
                let arrived = rank.scratch(sum.size());
                rank.recv(arrived, other);
                rank.combine(arrived, sum);
            }
        }
    }
    rank.copy(sum, output);
}

/// In each round pairs of ranks exchange half of what they still have.
pub(super) fn halving(rank: &mut Rank<'_>) {
    let (me, ranks, block) = (rank.me, rank.ranks(), rank.block());
    let input = rank.input(ranks);
    let sums = rank.scratch(input.size());
    rank.copy(input, sums);
    for unit in (0..ranks.ilog2()).rev().map(|bit| 1u32 << bit) {
        let own = me & !(unit - 1);
        let group = |first: u32| sums.part(u64::from(first) * block, u64::from(unit) * block);
        rank.send(group(own ^ unit), me ^ unit);
        let arrived = rank.scratch(group(own).size());
        rank.recv(arrived, me ^ unit);
        rank.combine(arrived, group(own));
    }
    rank.copy(sums.part(u64::from(me) * block, block), rank.output(1));
}
