//! Reads a `PMI_process_mapping`, which states the ranks that share a node, such as
//! `(vector,(0,2,4))`.
//!
//! For example, the block `(0,2,4)` places 4 ranks on node 0 and 4 ranks on node 1. In general a
//! block `(node,nodes,ranks)` places `ranks` ranks on each of `nodes` nodes, beginning with node
//! `node`. Blocks are applied one after the other. If ranks are left after the last block, the
//! first block follows again.
//!
//! Threat: the launcher writes the text. Its numbers are limited by [`RANKS_MAX`], and the walk
//! over the ranks ends with the last rank.

use crate::limits::RANKS_MAX;

/// A block: the first node, the number of nodes, and the number of ranks on each node.
type Block = (u32, u32, u32);

/// Returns the number of `rank` among the ranks on its node, and the number of ranks on this node.
/// Returns `None` if the text is malformed or has no block.
pub(super) fn local(text: &str, rank: u32, size: u32) -> Option<(u32, u32)> {
    let blocks = parse(text)?;
    let nodes = || {
        let of_block = |&(first, nodes, ranks): &Block| {
            (first..first + nodes).flat_map(move |node| (0..ranks).map(move |_| node))
        };
        blocks.iter().cycle().flat_map(of_block).take(size as usize)
    };
    let mine = nodes().nth(rank as usize)?;
    let count = |ranks: u32| nodes().take(ranks as usize).filter(|&node| node == mine).count();
    Some((u32::try_from(count(rank)).ok()?, u32::try_from(count(size)).ok()?))
}

fn parse(text: &str) -> Option<Vec<Block>> {
    let mut rest = text.strip_prefix("(vector")?.strip_suffix(')')?;
    let mut blocks = Vec::new();
    while !rest.is_empty() {
        let (block, after) = rest.strip_prefix(",(")?.split_once(')')?;
        let mut numbers = block.split(',').map(|digits| digits.parse().ok());
        let mut next = || numbers.next().flatten().filter(|&number: &u32| number <= RANKS_MAX);
        let (first, nodes, ranks) = (next()?, next()?, next()?);
        // A block without ranks would let the walk go on for ever.
        if numbers.next().is_some() || nodes == 0 || ranks == 0 {
            return None;
        }
        blocks.push((first, nodes, ranks));
        rest = after;
    }
    (!blocks.is_empty()).then_some(blocks)
}
