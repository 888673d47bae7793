//! Collectives that combine nothing.

use super::{LeaderBlocks, Node, copy_blocks};
use crate::algorithms::barrier as flat;
use crate::buf::Address;
use crate::levels::{Levels, Stage};
use crate::rank::Rank;
use crate::request::Blocks;
use goal_lang::BlockList;
use goal_lang::CollectiveKind::{Allgather, Alltoall, Barrier, Bcast, Gather, Scatter};
use std::sync::Arc;

const INNER_BCAST: Stage = Stage::new(Bcast, "binomial");
const INNER_GATHER: Stage = Stage::new(Gather, "linear");
pub(super) const INNER_SCATTER: Stage = Stage::new(Scatter, "linear");

pub(in crate::algorithms) const BARRIER: Levels =
    Levels { inner: &[], outer: Stage::new(Barrier, "dissemination"), is_in_order: false };
pub(in crate::algorithms) const BCAST: Levels =
    Levels { inner: &[INNER_BCAST], outer: Stage::new(Bcast, "binomial"), is_in_order: false };
pub(in crate::algorithms) const GATHER: Levels =
    Levels { inner: &[INNER_GATHER], outer: Stage::new(Gather, "binomial"), is_in_order: false };
pub(in crate::algorithms) const SCATTER: Levels =
    Levels { inner: &[INNER_SCATTER], outer: Stage::new(Scatter, "binomial"), is_in_order: false };
pub(in crate::algorithms) const ALLGATHER: Levels = Levels {
    inner: &[INNER_GATHER, INNER_BCAST],
    outer: Stage::new(Allgather, "bruck"),
    is_in_order: false,
};
pub(in crate::algorithms) const ALLTOALL: Levels = Levels {
    inner: &[INNER_GATHER, INNER_SCATTER],
    outer: Stage::new(Alltoall, "linear"),
    is_in_order: false,
};

/// Signals go up a tree in each node, and down again when the leaders have met.
pub(in crate::algorithms) fn barrier(rank: &mut Rank<'_>) {
    let node = Node::new(rank);
    let output = rank.view().output;
    let view = node.view(rank, Barrier, 0, None, output);
    let mut arrived = Vec::new();
    rank.within(view.clone(), |rank| arrived = flat::up(rank));
    if node.is_leader() {
        rank.gate(&arrived);
        let start = rank.mark();
        node.outer(rank, BARRIER.outer, 0, None, output);
        rank.gate_since(start);
        arrived.clear();
    }
    rank.within(view, |rank| flat::down(rank, arrived));
}

pub(in crate::algorithms) fn bcast(rank: &mut Rank<'_>) {
    let (node, view) = (Node::new(rank), rank.view().clone());
    let input = view.input.filter(|_| rank.is_root());
    node.outer(rank, BCAST.outer, view.count, input, view.output);
    node.inner(rank, INNER_BCAST, view.count, None, view.output);
}

/// The blocks of a node's ranks go to its leader, and the blocks of all leaders to the root.
pub(in crate::algorithms) fn gather(rank: &mut Rank<'_>) {
    let (node, view) = (Node::new(rank), rank.view().clone());
    let (own, block) = (view.own_input().address(), view.block());
    if !node.is_leader() {
        return node.inner(rank, INNER_GATHER, view.count, Some(own), view.output);
    }
    if !node.is_root() {
        let blocks = rank.scratch(u64::from(node.size()) * block).address();
        node.inner(rank, INNER_GATHER, view.count, Some(own), blocks);
        return node.outer(rank, GATHER.outer, view.count, Some(blocks), blocks);
    }
    let all = all_blocks(rank, &node);
    node.inner(rank, INNER_GATHER, view.count, Some(own), all.offset(node.offset(block)));
    node.outer(rank, GATHER.outer, view.count, None, all);
    put_in_order(rank, &node, all);
}

/// Returns memory for the blocks of all ranks in the order of nodes. It is the output, if the order
/// of ranks is the same.
fn all_blocks(rank: &mut Rank<'_>, node: &Node) -> Address {
    if node.is_contiguous() {
        return rank.view().output;
    }
    rank.scratch(u64::from(rank.ranks()) * rank.block()).address()
}

/// Copies blocks in the order of nodes to the output, unless they lie there.
fn put_in_order(rank: &mut Rank<'_>, node: &Node, all: Address) {
    if !node.is_contiguous() {
        let (view, block) = (rank.view().clone(), rank.block());
        let place = |(at, of): (u64, u32)| (all.part(at * block, block), view.output_of(of));
        copy_blocks(rank, node.in_order().map(place));
    }
}

/// The blocks of a node's ranks go from the root to its leader, which hands them out.
pub(in crate::algorithms) fn scatter(rank: &mut Rank<'_>) {
    let (node, view) = (Node::new(rank), rank.view().clone());
    let block = view.block();
    if !node.is_leader() {
        return node.inner(rank, INNER_SCATTER, view.count, None, view.output);
    }
    if !node.is_root() {
        let blocks = rank.scratch(u64::from(node.size()) * block).address();
        node.outer(rank, SCATTER.outer, view.count, None, blocks);
        return node.inner(rank, INNER_SCATTER, view.count, Some(blocks), view.output);
    }
    let mut all = view.input.unwrap_or(view.output);
    if !node.is_contiguous() {
        all = rank.scratch(u64::from(view.ranks) * block).address();
        let place = |(at, of): (u64, u32)| (view.input_for(of), all.part(at * block, block));
        copy_blocks(rank, node.in_order().map(place));
    }
    node.outer(rank, SCATTER.outer, view.count, None, all);
    let own = all.offset(node.offset(block));
    // In place, the root's own block stays where it is.
    match view.input {
        Some(_) => node.inner(rank, INNER_SCATTER, view.count, Some(own), view.output),
        None => node.inner(rank, INNER_SCATTER, view.count, None, own),
    }
}

/// The blocks of a node's ranks go to its leader. Leaders exchange these blocks, and pass all
/// blocks on to their ranks.
pub(in crate::algorithms) fn allgather(rank: &mut Rank<'_>) {
    let (node, view) = (Node::new(rank), rank.view().clone());
    let own = view.own_input().address();
    if node.is_leader() {
        let all = all_blocks(rank, &node);
        let blocks = all.offset(node.offset(view.block()));
        node.inner(rank, INNER_GATHER, view.count, Some(own), blocks);
        node.outer(rank, ALLGATHER.outer, view.count, None, all);
        put_in_order(rank, &node, all);
    } else {
        node.inner(rank, INNER_GATHER, view.count, Some(own), view.output);
    }
    node.inner(rank, INNER_BCAST, u64::from(view.ranks) * view.count, None, view.output);
}

/// A block that a leader moves, from one of its node's ranks to another rank or back.
struct Pair {
    /// The place of the rank in the own node.
    local: u64,
    /// The other rank, its place in its node, the number of ranks of that node, and of all nodes
    /// before it.
    other: u64,
    place: u64,
    of_node: u64,
    before: u64,
}

/// Returns all blocks that a leader moves, by the node of the other rank.
fn pairs(node: &Node) -> impl Iterator<Item = Pair> {
    (0..node.count()).flat_map(move |other_node| {
        let (places, before) = (node.size_of(other_node), node.before(other_node));
        (0..node.size()).flat_map(move |local| {
            (0..places).map(move |place| Pair {
                local: local.into(),
                other: node.member(other_node, place).into(),
                place: place.into(),
                of_node: places.into(),
                before,
            })
        })
    })
}

/// Leaders gather the inputs of their nodes' ranks, exchange the blocks for other nodes, and
/// scatter what they get.
pub(in crate::algorithms) fn alltoall(rank: &mut Rank<'_>) {
    let (node, view) = (Node::new(rank), rank.view().clone());
    let (ranks, size, block) = (u64::from(view.ranks), u64::from(node.size()), view.block());
    let (count, own) = (ranks * view.count, view.input.unwrap_or(view.output));
    if !node.is_leader() {
        node.inner(rank, INNER_GATHER, count, Some(own), view.output);
        return node.inner(rank, INNER_SCATTER, count, None, view.output);
    }
    let all: [Address; 4] = std::array::from_fn(|_| rank.scratch(size * ranks * block).address());
    let at = |place: usize, number: u64| all[place].part(number * block, block);
    node.inner(rank, INNER_GATHER, count, Some(own), all[0]);
    let lined_up = |pair: &Pair| pair.local * ranks + pair.other;
    let sent = |pair: &Pair| size * pair.before + pair.local * pair.of_node + pair.place;
    let received = |pair: &Pair| size * (pair.before + pair.place) + pair.local;
    copy_blocks(rank, pairs(&node).map(|pair| (at(0, lined_up(&pair)), at(1, sent(&pair)))));
    exchange(rank, &node, all[1], all[2]);
    copy_blocks(rank, pairs(&node).map(|pair| (at(2, received(&pair)), at(3, lined_up(&pair)))));
    node.inner(rank, INNER_SCATTER, count, Some(all[3]), view.output);
}

/// Leaders exchange a block for each pair of ranks of two nodes.
fn exchange(rank: &mut Rank<'_>, node: &Node, input: Address, output: Address) {
    let (size, count) = (u64::from(node.size()), rank.view().count);
    let sizes = (0..node.count()).map(|other| u64::from(node.size_of(other)));
    let width = rank.width();
    let blocks = if node.common_size().is_some() {
        LeaderBlocks { blocks: Blocks::Equal, count: size * size * count, width }
    } else {
        let counts: Arc<[u64]> = sizes.map(|other| size * other * count).collect();
        let list = BlockList::packed(counts);
        LeaderBlocks { blocks: Blocks::Pairs { send: list.clone(), recv: list }, count, width }
    };
    node.among_leaders(rank, ALLTOALL.outer, blocks, Some(input), output);
}
