//! The nodes that ranks lie on.

use goal_lang::BlockList;
use std::collections::HashMap;
use std::sync::Arc;

/// The nodes that the ranks of a program lie on. They are numbered in the order of their first
/// ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nodes {
    /// For each rank, its node and its place among the node's ranks.
    places: Vec<(u32, u32)>,
    /// For each node, its ranks, ascending.
    members: Vec<Arc<[u32]>>,
    /// The first rank of each node, and the last rank of each node.
    leaders: Arc<[u32]>,
    lasts: Arc<[u32]>,
    /// For each node the number of its ranks, and as displacement the number of ranks of the nodes
    /// before it.
    blocks: BlockList,
    /// The different numbers of ranks of nodes, ascending.
    sizes: Vec<u32>,
    is_contiguous: bool,
}

impl Nodes {
    /// Returns the nodes of `map.len()` ranks. `map` has for each rank the number of its node,
    /// which may be any number.
    pub fn new(map: &[u32]) -> Self {
        let mut numbers = HashMap::new();
        let mut members: Vec<Vec<u32>> = Vec::new();
        let mut places = Vec::with_capacity(map.len());
        for (rank, node) in (0u32..).zip(map) {
            let node = *numbers.entry(node).or_insert_with(|| {
                members.push(Vec::new());
                members.len() - 1
            });
            places.push((node as u32, members[node].len() as u32));
            members[node].push(rank);
        }
        let is_contiguous = places.windows(2).all(|pair| pair[0].0 <= pair[1].0);
        let mut sizes: Vec<u32> = members.iter().map(|members| members.len() as u32).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let leaders = members.iter().map(|members| members[0]).collect();
        let lasts = members.iter().map(|members| members[members.len() - 1]).collect();
        let counts: Vec<u64> = members.iter().map(|members| members.len() as u64).collect();
        let blocks = BlockList::packed(counts);
        let members = members.into_iter().map(Arc::from).collect();
        Self { places, members, leaders, lasts, blocks, sizes, is_contiguous }
    }

    /// Returns nodes of `per_node` consecutive ranks each; the last one may have fewer.
    pub fn from_size(ranks: u32, per_node: u32) -> Self {
        let map: Vec<u32> = (0..ranks).map(|rank| rank / per_node.max(1)).collect();
        Self::new(&map)
    }

    /// Returns the number of ranks.
    pub fn ranks(&self) -> u32 {
        self.places.len() as u32
    }

    /// Returns the number of nodes.
    pub fn count(&self) -> u32 {
        self.members.len() as u32
    }

    /// Returns the ranks of a node, ascending.
    pub fn members(&self, node: u32) -> &Arc<[u32]> {
        &self.members[node as usize]
    }

    /// Returns the node of a rank, and the rank's place among the node's ranks.
    pub fn place(&self, rank: u32) -> (u32, u32) {
        self.places[rank as usize]
    }

    /// Returns the first rank of each node.
    pub fn leaders(&self) -> &Arc<[u32]> {
        &self.leaders
    }

    /// Returns the last rank of each node.
    pub(crate) fn lasts(&self) -> &Arc<[u32]> {
        &self.lasts
    }

    /// Returns for each node the number of its ranks, and as displacement the number of ranks of
    /// the nodes before it.
    pub(crate) fn blocks(&self) -> &BlockList {
        &self.blocks
    }

    /// Returns the different numbers of ranks that nodes have, ascending.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// Returns true if the ranks of each node are consecutive.
    pub fn is_contiguous(&self) -> bool {
        self.is_contiguous
    }
}
