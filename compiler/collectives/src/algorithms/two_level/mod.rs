//! Algorithms in two levels: within each node, among the nodes' leaders, within each node. Each
//! level takes any algorithm of its collective. The leader of a node is its first rank. In the node
//! of the root, it is the root. In scans it is the last rank.
//!
//! Blocks that go from or to leaders lie in the order of nodes. If the ranks of nodes are not
//! consecutive, a leader brings them into this order or out of it by copies.

use crate::buf::{Address, Buf};
use crate::levels::{Stage, has_blocks};
use crate::nodes::Nodes;
use crate::rank::Rank;
use crate::request::Blocks;
use crate::view::View;
use goal_lang::CollectiveKind;
use std::sync::Arc;

mod combining;
mod moving;

pub(super) use combining::{
    ALLREDUCE, EXSCAN, REDUCE, REDUCE_SCATTER, SCAN, allreduce, exscan, reduce, reduce_scatter,
    scan,
};
pub(super) use moving::{
    ALLGATHER, ALLTOALL, BARRIER, BCAST, GATHER, SCATTER, allgather, alltoall, barrier, bcast,
    gather, scatter,
};

/// The place of a rank in its node, and the nodes of all ranks.
struct Node {
    /// The nodes; `None` for a single node, so that its ranks need not be listed.
    nodes: Option<Arc<Nodes>>,
    /// The number of ranks of all nodes.
    ranks: u32,
    /// The number of this rank's node.
    node: u32,
    /// This rank's place among the node's ranks.
    place: u32,
    /// The number of the root's node, and the root's place among that node's ranks.
    root: u32,
    root_place: u32,
    /// True if the last rank of each node leads, not the first one.
    is_led_by_last: bool,
    /// The names of the algorithms within nodes and among leaders that the request asks for.
    inner: Option<&'static str>,
    outer: Option<&'static str>,
}

/// The blocks of a collective among leaders. If nodes have different numbers of ranks, an element
/// is the block of a rank, so that all leaders share one list.
struct LeaderBlocks {
    blocks: Blocks,
    count: u64,
    /// The bytes of an element.
    width: u64,
}

impl Node {
    fn new(rank: &Rank<'_>) -> Self {
        let request = rank.request;
        let nodes = request.nodes.clone();
        let find = |rank: u32| nodes.as_ref().map_or((0, rank), |nodes| nodes.place(rank));
        let (node, place) = find(rank.me());
        let (root, root_place) = match rank.view().kind.has_root() {
            true => find(rank.root()),
            false => (0, 0),
        };
        let ranks = rank.ranks();
        let (inner, outer) = (request.inner, request.outer);
        Self { nodes, ranks, node, place, root, root_place, is_led_by_last: false, inner, outer }
    }

    /// Makes the last rank of each node its leader.
    fn led_by_last(self) -> Self {
        Self { is_led_by_last: true, ..self }
    }

    /// Returns the place of a node's leader among the node's ranks.
    fn leader(&self, node: u32) -> u32 {
        match (self.is_led_by_last, node == self.root) {
            (true, _) => self.size_of(node) - 1,
            (false, true) => self.root_place,
            (false, false) => 0,
        }
    }

    fn is_leader(&self) -> bool {
        self.place == self.leader(self.node)
    }

    /// Returns true if this is the leader of the root's node.
    fn is_root(&self) -> bool {
        self.is_leader() && self.node == self.root
    }

    /// Returns the number of nodes.
    fn count(&self) -> u32 {
        self.nodes.as_ref().map_or(1, |nodes| nodes.count())
    }

    /// Returns the number of ranks of a node.
    fn size_of(&self, node: u32) -> u32 {
        self.nodes.as_ref().map_or(self.ranks, |nodes| nodes.members(node).len() as u32)
    }

    /// Returns the number of ranks of this rank's node.
    fn size(&self) -> u32 {
        self.size_of(self.node)
    }

    /// Returns the number of ranks of a node, if it is the same for all nodes.
    fn common_size(&self) -> Option<u32> {
        let sizes = self.nodes.as_ref().map_or(&[][..], |nodes| nodes.sizes());
        if sizes.len() > 1 { None } else { Some(self.size()) }
    }

    /// Returns true if the order of ranks is also the order of nodes.
    fn is_contiguous(&self) -> bool {
        self.nodes.as_ref().is_none_or(|nodes| nodes.is_contiguous())
    }

    /// Returns the rank at a place of a node.
    fn member(&self, node: u32, place: u32) -> u32 {
        self.nodes.as_ref().map_or(place, |nodes| nodes.members(node)[place as usize])
    }

    /// Returns the ranks in the order of nodes, each with its position in this order.
    fn in_order(&self) -> impl Iterator<Item = (u64, u32)> {
        let places = (0..self.count())
            .flat_map(|node| (0..self.size_of(node)).map(move |place| (node, place)));
        (0..).zip(places.map(|(node, place)| self.member(node, place)))
    }

    /// Returns the number of ranks of all nodes before a node.
    fn before(&self, node: u32) -> u64 {
        let before = |nodes: &Arc<Nodes>| nodes.blocks().displacements()[node as usize];
        self.nodes.as_ref().map_or(0, before)
    }

    /// Returns the total size in bytes of the blocks of all ranks in nodes before this rank's node.
    fn offset(&self, block: u64) -> u64 {
        self.before(self.node) * block
    }

    /// Returns the view that this rank has of a collective within the node.
    fn view(
        &self,
        rank: &Rank<'_>,
        kind: CollectiveKind,
        count: u64,
        input: Option<Address>,
        output: Address,
    ) -> View {
        View {
            kind,
            me: self.place,
            ranks: self.size(),
            root: self.leader(self.node),
            members: self.nodes.as_ref().map(|nodes| nodes.members(self.node).clone()),
            root_member: None,
            input,
            output,
            count,
            blocks: Blocks::Equal,
            width: rank.width(),
        }
    }

    /// Executes a collective within the node, with blocks of `count` elements.
    fn inner(
        &self,
        rank: &mut Rank<'_>,
        stage: Stage,
        count: u64,
        input: Option<Address>,
        output: Address,
    ) {
        if self.size() == 1 && input.is_none_or(|input| input == output) {
            return;
        }
        let view = self.view(rank, stage.kind, count, input, output);
        run(rank, stage.kind, stage.name(rank.request, self.inner), view);
    }

    /// Executes a collective among the leaders. If the collective has a block for each rank, a
    /// leader has a block of `count` elements for each rank of its node.
    fn outer(
        &self,
        rank: &mut Rank<'_>,
        stage: Stage,
        count: u64,
        input: Option<Address>,
        output: Address,
    ) {
        let width = rank.width();
        let blocks = match (has_blocks(stage.kind), self.common_size(), &self.nodes) {
            (false, ..) => LeaderBlocks { blocks: Blocks::Equal, count, width },
            (true, None, Some(nodes)) => {
                let blocks = Blocks::Each(nodes.blocks().clone());
                LeaderBlocks { blocks, count: 1, width: count * width }
            }
            (true, size, _) => {
                let count = u64::from(size.unwrap_or(self.ranks)) * count;
                LeaderBlocks { blocks: Blocks::Equal, count, width }
            }
        };
        self.among_leaders(rank, stage, blocks, input, output);
    }

    fn among_leaders(
        &self,
        rank: &mut Rank<'_>,
        stage: Stage,
        LeaderBlocks { blocks, count, width }: LeaderBlocks,
        input: Option<Address>,
        output: Address,
    ) {
        if !self.is_leader() || self.count() == 1 && input.is_none_or(|at| at == output) {
            return;
        }
        let leaders = |nodes: &Arc<Nodes>| match self.is_led_by_last {
            true => nodes.lasts().clone(),
            false => nodes.leaders().clone(),
        };
        let is_root_apart = !self.is_led_by_last && self.root_place > 0;
        let view = View {
            kind: stage.kind,
            me: self.node,
            ranks: self.count(),
            root: self.root,
            members: self.nodes.as_ref().map(leaders),
            root_member: is_root_apart
                .then(|| (self.root, self.member(self.root, self.root_place))),
            input,
            output,
            count,
            blocks,
            width,
        };
        run(rank, stage.kind, stage.name(rank.request, self.outer), view);
    }
}

/// Executes an algorithm that the check of levels has found.
fn run(rank: &mut Rank<'_>, kind: CollectiveKind, name: &str, view: View) {
    let generate = rank.find(kind, name).expect("the algorithm was found by the check");
    rank.within(view, generate);
}

/// Copies each block to its other place. Blocks that lie one behind the other at both places are
/// copied at once.
fn copy_blocks(rank: &mut Rank<'_>, blocks: impl Iterator<Item = (Buf, Buf)>) {
    let mut run: Option<(Buf, Buf)> = None;
    for (from, to) in blocks {
        let both = run.and_then(|run| Some((run.0.and(from)?, run.1.and(to)?)));
        if both.is_none()
            && let Some((from, to)) = run
        {
            rank.copy(from, to);
        }
        run = both.or(Some((from, to)));
    }
    if let Some((from, to)) = run {
        rank.copy(from, to);
    }
}
