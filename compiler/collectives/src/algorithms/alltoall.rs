//! Exchanges between all pairs of ranks.

use crate::buf::{Address, Buf};
use crate::rank::Rank;
use goal_lang::ActionId;

/// The places of the blocks to send.
enum Source {
    /// The blocks lie in the input.
    Input,
    /// All blocks have the same size and lie one behind the other.
    Packed(Address),
    /// Each block lies at a place of its own.
    Listed(Vec<Buf>),
}

impl Source {
    fn block_for(&self, rank: &Rank<'_>, number: u32) -> Buf {
        match self {
            Source::Input => rank.input_for(number),
            Source::Packed(place) => place.part(u64::from(number) * rank.block(), rank.block()),
            Source::Listed(blocks) => blocks[number as usize],
        }
    }
}

/// Returns the blocks to send. In place they are copied, so that receives need not wait for sends:
/// such a receive could wait for ever.
fn source(rank: &mut Rank<'_>) -> Source {
    if !rank.is_in_place() {
        return Source::Input;
    }
    if rank.has_equal_blocks() {
        let input = rank.input(rank.ranks());
        let saved = rank.scratch(input.size());
        rank.copy(input, saved);
        return Source::Packed(saved.address());
    }
    let (me, ranks) = (rank.me(), rank.ranks());
    let save = |number: u32| {
        let block = rank.input_for(number);
        if number == me {
            return block;
        }
        let saved = rank.scratch(block.size());
        rank.copy(block, saved);
        saved
    };
    Source::Listed((0..ranks).map(save).collect())
}

/// Copies this rank's own block to its place. It is stated after the messages, so that these start
/// first.
fn keep_own(rank: &mut Rank<'_>) {
    rank.copy(rank.input_for(rank.me()), rank.output_of(rank.me()));
}

pub(super) fn linear(rank: &mut Rank<'_>) {
    let blocks = source(rank);
    for distance in 1..rank.ranks() {
        let (to, from) = (rank.up(distance), rank.down(distance));
        rank.send(blocks.block_for(rank, to), to);
        rank.recv(rank.output_of(from), from);
    }
    keep_own(rank);
}

/// In each step every rank sends to one rank and receives from one rank. The next step begins when
/// both messages have ended.
pub(super) fn pairwise(rank: &mut Rank<'_>) {
    let blocks = source(rank);
    let mut before: Vec<ActionId> = Vec::new();
    for distance in 1..rank.ranks() {
        let (to, from) = (rank.up(distance), rank.down(distance));
        let (sent, received) = (blocks.block_for(rank, to), rank.output_of(from));
        let mut step = Vec::new();
        if sent.size() > 0 {
            step.push(rank.signal(sent, to));
        }
        if received.size() > 0 {
            step.push(rank.await_signal(received, from));
        }
        for &action in &step {
            before.iter().for_each(|&earlier| rank.after(action, earlier));
        }
        if !step.is_empty() {
            before = step;
        }
    }
    keep_own(rank);
}

/// In the round of each bit, all blocks whose distance has this bit go that far, in one message.
pub(super) fn bruck(rank: &mut Rank<'_>) {
    let (ranks, block) = (rank.ranks(), rank.block());
    let blocks = rank.scratch(u64::from(ranks) * block);
    let block_of = |blocks: Buf, number: u32| blocks.part(u64::from(number) * block, block);
    for distance in 0..ranks {
        rank.copy(rank.input_for(rank.up(distance)), block_of(blocks, distance));
    }
    for bit in (0..32).take_while(|&bit| ranks > 1 << bit) {
        let moved: Vec<u32> = (0..ranks).filter(|distance| distance & 1 << bit != 0).collect();
        let size = moved.len() as u64 * block;
        let [packed, arrived] = [rank.scratch(size), rank.scratch(size)];
        let parts = moved.iter().zip(0u32..);
        for (&distance, number) in parts.clone() {
            rank.copy(block_of(blocks, distance), block_of(packed, number));
        }
        rank.send(packed, rank.up(1 << bit));
        rank.recv(arrived, rank.down(1 << bit));
        for (&distance, number) in parts {
            rank.copy(block_of(arrived, number), block_of(blocks, distance));
        }
    }
    for distance in 0..ranks {
        rank.copy(block_of(blocks, distance), rank.output_of(rank.down(distance)));
    }
}
