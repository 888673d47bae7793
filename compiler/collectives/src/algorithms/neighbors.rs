//! Exchanges with the neighbours in a graph.

use crate::buf::Buf;
use crate::rank::Rank;
use goal_lang::Neighbors;

fn neighbors(rank: &Rank<'_>) -> Neighbors {
    let given = rank.request.neighbors.clone();
    given.unwrap_or_else(|| Neighbors::ring(rank.me(), rank.ranks()))
}

/// Returns a block of the input. In place, returns a copy, because the blocks that arrive would
/// overwrite it.
fn kept(rank: &mut Rank<'_>, block: Buf) -> Buf {
    if !rank.is_in_place() {
        return block;
    }
    let saved = rank.scratch(block.size());
    rank.copy(block, saved);
    saved
}

/// Sends each block to its destination, and receives one from each source. Blocks to this rank
/// itself are copied.
fn exchange(rank: &mut Rank<'_>, neighbors: &Neighbors, sent: &[Buf]) {
    let me = rank.me();
    let mut own = Vec::new();
    for (&to, &block) in neighbors.destinations.iter().zip(sent) {
        if to == me {
            own.push(block);
        } else {
            rank.send(block, to);
        }
    }
    let mut own = own.into_iter();
    for (number, &from) in (0..).zip(neighbors.sources.iter()) {
        let place = rank.output_of(number);
        if from != me {
            rank.recv(place, from);
        } else if let Some(block) = own.next() {
            rank.copy(block, place);
        }
    }
}

pub(super) fn allgather(rank: &mut Rank<'_>) {
    let (neighbors, own) = (neighbors(rank), rank.own_input());
    let own = kept(rank, own);
    exchange(rank, &neighbors, &vec![own; neighbors.destinations.len()]);
}

pub(super) fn alltoall(rank: &mut Rank<'_>) {
    let neighbors = neighbors(rank);
    let block = |number: u32| {
        let block = rank.input_for(number);
        kept(rank, block)
    };
    let sent: Vec<Buf> = (0..neighbors.destinations.len() as u32).map(block).collect();
    exchange(rank, &neighbors, &sent);
}
