//! Exchanges between all pairs of ranks.

use crate::rank::{Buf, Rank};
use goal_lang::ActionId;

/// Returns the blocks to send, and copies the own one to its place. In place they are copied out of
/// the way of those that arrive: a receive that waited for a send to end could wait for ever.
fn source(rank: &mut Rank<'_>) -> Buf {
    let input = rank.input(rank.ranks());
    if rank.request.input.is_none() {
        let saved = rank.scratch(input.size());
        rank.copy(input, saved);
        return saved;
    }
    rank.copy(rank.input_for(rank.me), rank.output_of(rank.me));
    input
}

fn block_of(rank: &Rank<'_>, blocks: Buf, number: u32) -> Buf {
    blocks.part(u64::from(number) * rank.block(), rank.block())
}

pub(super) fn linear(rank: &mut Rank<'_>) {
    let blocks = source(rank);
    for distance in 1..rank.ranks() {
        let (to, from) = (rank.up(distance), rank.down(distance));
        rank.send(block_of(rank, blocks, to), to);
        rank.recv(rank.output_of(from), from);
    }
}

/// In each step every rank sends to one and receives from one, and ends with both.
pub(super) fn pairwise(rank: &mut Rank<'_>) {
    let blocks = source(rank);
    if rank.block() == 0 {
        return;
    }
    let mut before: Option<[ActionId; 2]> = None;
    for distance in 1..rank.ranks() {
        let (to, from) = (rank.up(distance), rank.down(distance));
        let step = [
            rank.signal(block_of(rank, blocks, to), to),
            rank.await_signal(rank.output_of(from), from),
        ];
        for (action, earlier) in step
            .into_iter()
            .flat_map(|action| before.into_iter().flatten().map(move |earlier| (action, earlier)))
        {
            rank.after(action, earlier);
        }
        before = Some(step);
    }
}

/// In the round of each bit, all blocks whose distance has the bit go that far at once.
pub(super) fn bruck(rank: &mut Rank<'_>) {
    let (ranks, block) = (rank.ranks(), rank.block());
    let input = rank.input(ranks);
    let blocks = rank.scratch(u64::from(ranks) * block);
    for distance in 0..ranks {
        rank.copy(block_of(rank, input, rank.up(distance)), block_of(rank, blocks, distance));
    }
    for bit in (0..32).take_while(|&bit| ranks > 1 << bit) {
        let moved: Vec<u32> = (0..ranks).filter(|distance| distance & 1 << bit != 0).collect();
        let size = moved.len() as u64 * block;
        let [packed, arrived] = [rank.scratch(size), rank.scratch(size)];
        let parts = moved.iter().zip(0u32..);
        for (&distance, number) in parts.clone() {
            rank.copy(block_of(rank, blocks, distance), block_of(rank, packed, number));
        }
        rank.send(packed, rank.up(1 << bit));
        rank.recv(arrived, rank.down(1 << bit));
        for (&distance, number) in parts {
            rank.copy(block_of(rank, arrived, number), block_of(rank, blocks, distance));
        }
    }
    for distance in 0..ranks {
        rank.copy(block_of(rank, blocks, distance), rank.output_of(rank.down(distance)));
    }
}
