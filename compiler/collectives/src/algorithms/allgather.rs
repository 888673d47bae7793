//! Gathers to all ranks.

use crate::buf::Buf;
use crate::rank::Rank;

/// Copies this rank's own block to its place in the output.
fn keep_own(rank: &mut Rank<'_>) {
    rank.copy(rank.own_input(), rank.output_of(rank.me()));
}

/// Returns the places of the blocks of `count` ranks from `first` on.
fn group(rank: &Rank<'_>, first: u32, count: u32) -> Vec<Buf> {
    rank.circle(first, count, |number| rank.output_of(number))
}

pub(super) fn linear(rank: &mut Rank<'_>) {
    for distance in 1..rank.ranks() {
        let from = rank.down(distance);
        rank.send(rank.own_input(), rank.up(distance));
        rank.recv(rank.output_of(from), from);
    }
    // Messages start first.
    keep_own(rank);
}

pub(super) fn ring(rank: &mut Rank<'_>) {
    keep_own(rank);
    for step in 0..rank.ranks() - 1 {
        rank.send(rank.output_of(rank.down(step)), rank.up(1));
        rank.recv(rank.output_of(rank.down(step + 1)), rank.down(1));
    }
}

pub(super) fn recursive_doubling(rank: &mut Rank<'_>) {
    keep_own(rank);
    for unit in (0..rank.ranks().ilog2()).map(|bit| 1u32 << bit) {
        let (own, other) = (rank.me() & !(unit - 1), rank.me() ^ unit);
        rank.send_all(&group(rank, own, unit), other);
        rank.recv_all(&group(rank, own ^ unit, unit), other);
    }
}

/// In each round every rank gets as many blocks as it has, from a rank above. Equal blocks lie in
/// scratch memory, and are copied into the order of ranks at the end. Other blocks are sent from
/// their places in the output.
pub(super) fn bruck(rank: &mut Rank<'_>) {
    let (me, ranks, block) = (rank.me(), rank.ranks(), rank.block());
    if !rank.has_equal_blocks() {
        return bruck_in_places(rank);
    }
    let blocks = rank.scratch(u64::from(ranks) * block);
    let part =
        |first: u32, count: u32| blocks.part(u64::from(first) * block, u64::from(count) * block);
    rank.copy(rank.own_input(), part(0, 1));
    let mut has = 1;
    while has < ranks {
        let count = has.min(ranks - has);
        rank.send(part(0, count), rank.down(has));
        rank.recv(part(has, count), rank.up(has));
        has += count;
    }
    let all = rank.output(ranks);
    let own = u64::from(me) * block;
    rank.copy(part(0, ranks - me), all.part(own, all.size() - own));
    if me > 0 {
        rank.copy(part(ranks - me, me), all.part(0, own));
    }
}

fn bruck_in_places(rank: &mut Rank<'_>) {
    keep_own(rank);
    let ranks = rank.ranks();
    let mut has = 1;
    while has < ranks {
        let count = has.min(ranks - has);
        rank.send_all(&group(rank, rank.me(), count), rank.down(has));
        rank.recv_all(&group(rank, rank.up(has), count), rank.up(has));
        has += count;
    }
}

/// Pairs of neighbours first exchange their own blocks. In each further round, every rank exchanges
/// two blocks with its other neighbour. In the second round it sends its own block and the first
/// one that it got. Later it sends the two blocks that it got in the round before.
pub(super) fn neighbour_exchange(rank: &mut Rank<'_>) {
    keep_own(rank);
    let (me, ranks) = (rank.me(), rank.ranks());
    if ranks == 1 {
        return;
    }
    let is_even = me.is_multiple_of(2);
    let neighbours = if is_even { [rank.up(1), rank.down(1)] } else { [rank.down(1), rank.up(1)] };
    rank.send(rank.output_of(me), neighbours[0]);
    rank.recv(rank.output_of(neighbours[0]), neighbours[0]);
    // `last` is the first block of the pair that was received last: the block of an even rank.
    // `sides` has the first block of the newest pair from each side.
    let mut last = if is_even { me } else { rank.down(1) };
    let mut sides = [last, last];
    for step in 1..ranks / 2 {
        let side = (step % 2) as usize;
        let away = if is_even == (side == 0) { 2 } else { ranks - 2 };
        sides[side] = (sides[side] + away) % ranks;
        rank.send_all(&group(rank, last, 2), neighbours[side]);
        rank.recv_all(&group(rank, sides[side], 2), neighbours[side]);
        last = sides[side];
    }
}
