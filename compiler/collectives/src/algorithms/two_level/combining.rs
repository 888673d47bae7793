//! Collectives that combine inputs.

use super::moving::INNER_SCATTER;
use super::{Node, copy_blocks};
use crate::levels::{Levels, Stage};
use crate::rank::Rank;
use goal_lang::CollectiveKind::{Allreduce, Bcast, Exscan, Reduce, ReduceScatter, Scan};

const REDUCE_STAGE: Stage =
    Stage { kind: Reduce, default: "binomial", ordered: "ordered-binomial" };
const INNER_BCAST: Stage = Stage::new(Bcast, "binomial");
const INNER_EXSCAN: Stage = Stage::new(Exscan, "recursive-doubling");
const INNER_SCAN: Stage = Stage::new(Scan, "recursive-doubling");

pub(in crate::algorithms) const REDUCE: Levels =
    Levels { inner: &[REDUCE_STAGE], outer: REDUCE_STAGE, is_in_order: false };
pub(in crate::algorithms) const ALLREDUCE: Levels = Levels {
    inner: &[REDUCE_STAGE, INNER_BCAST],
    outer: Stage::new(Allreduce, "recursive-doubling"),
    is_in_order: false,
};
pub(in crate::algorithms) const REDUCE_SCATTER: Levels = Levels {
    inner: &[REDUCE_STAGE, INNER_SCATTER],
    outer: Stage::new(ReduceScatter, "pairwise"),
    is_in_order: false,
};
pub(in crate::algorithms) const EXSCAN: Levels = Levels {
    inner: &[INNER_EXSCAN, INNER_BCAST],
    outer: Stage::new(Exscan, "recursive-doubling"),
    is_in_order: true,
};
pub(in crate::algorithms) const SCAN: Levels = Levels {
    inner: &[INNER_SCAN, INNER_BCAST],
    outer: Stage::new(Exscan, "recursive-doubling"),
    is_in_order: true,
};

/// The inputs of a node are combined at its leader, and the sums of all leaders at the root.
pub(in crate::algorithms) fn reduce(rank: &mut Rank<'_>) {
    let (node, view) = (Node::new(rank), rank.view().clone());
    let own = view.input.unwrap_or(view.output);
    if node.is_root() {
        node.inner(rank, REDUCE_STAGE, view.count, view.input, view.output);
        node.outer(rank, REDUCE.outer, view.count, None, view.output);
    } else if node.is_leader() {
        let sum = rank.scratch(view.block()).address();
        node.inner(rank, REDUCE_STAGE, view.count, Some(own), sum);
        node.outer(rank, REDUCE.outer, view.count, Some(sum), sum);
    } else {
        node.inner(rank, REDUCE_STAGE, view.count, Some(own), view.output);
    }
}

/// The inputs of a node are combined at its leader. Leaders combine these sums and pass the result
/// on.
pub(in crate::algorithms) fn allreduce(rank: &mut Rank<'_>) {
    let (node, view) = (Node::new(rank), rank.view().clone());
    node.inner(rank, REDUCE_STAGE, view.count, view.input, view.output);
    node.outer(rank, ALLREDUCE.outer, view.count, None, view.output);
    node.inner(rank, INNER_BCAST, view.count, None, view.output);
}

/// The inputs of a node are combined at its leader. A leader gets the blocks of the result for its
/// node's ranks from the other leaders, and hands them out.
pub(in crate::algorithms) fn reduce_scatter(rank: &mut Rank<'_>) {
    let (node, view) = (Node::new(rank), rank.view().clone());
    let (block, own) = (view.block(), view.input.unwrap_or(view.output));
    let (all, size) = (u64::from(view.ranks), u64::from(node.size()));
    if !node.is_leader() {
        node.inner(rank, REDUCE_STAGE, all * view.count, Some(own), view.output);
        return node.inner(rank, INNER_SCATTER, view.count, None, view.output);
    }
    let mut sums = rank.scratch(all * block).address();
    node.inner(rank, REDUCE_STAGE, all * view.count, Some(own), sums);
    if !node.is_contiguous() {
        let ordered = rank.scratch(all * block).address();
        let place = |(at, of): (u64, u32)| {
            (sums.part(u64::from(of) * block, block), ordered.part(at * block, block))
        };
        copy_blocks(rank, node.in_order().map(place));
        sums = ordered;
    }
    let blocks = rank.scratch(size * block).address();
    node.outer(rank, REDUCE_SCATTER.outer, view.count, Some(sums), blocks);
    node.inner(rank, INNER_SCATTER, view.count, Some(blocks), view.output);
}

/// Every node scans on its own. Its last rank then has the node's sum, and gets the sum of all
/// nodes before. All ranks of the node add this sum.
pub(in crate::algorithms) fn scan(rank: &mut Rank<'_>) {
    let (node, view) = (Node::new(rank).led_by_last(), rank.view().clone());
    node.inner(rank, INNER_SCAN, view.count, view.input, view.output);
    let before = rank.scratch(view.block());
    node.outer(rank, SCAN.outer, view.count, Some(view.output), before.address());
    if node.node > 0 {
        node.inner(rank, INNER_BCAST, view.count, None, before.address());
        rank.combine(before, rank.output(1));
    }
}

/// Every node does an exclusive scan on its own. Its last rank computes the node's sum, and gets
/// the sum of all nodes before. All ranks of the node add this sum.
pub(in crate::algorithms) fn exscan(rank: &mut Rank<'_>) {
    let (node, view) = (Node::new(rank).led_by_last(), rank.view().clone());
    let output = rank.output(1);
    let sum = rank.scratch(view.block());
    // In place the scan writes over the input.
    if node.is_leader() {
        rank.copy(rank.input(1), sum);
    }
    node.inner(rank, INNER_EXSCAN, view.count, view.input, view.output);
    if node.is_leader() && node.place > 0 {
        rank.combine(output, sum);
    }
    let before = rank.scratch(view.block());
    node.outer(rank, EXSCAN.outer, view.count, Some(sum.address()), before.address());
    if node.node == 0 {
        return;
    }
    node.inner(rank, INNER_BCAST, view.count, None, before.address());
    match node.place {
        0 => rank.copy(before, output),
        _ => rank.combine(before, output),
    }
}
