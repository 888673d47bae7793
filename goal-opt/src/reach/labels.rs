//! Labels that decide most questions about paths without a search.

use super::graph::Graph;

/// The labels of each node.
#[derive(Debug)]
pub(super) struct Labels(Vec<Node>);

/// The labels of two depth-first searches that take edges in opposite orders, and the height.
#[derive(Debug, Clone, Copy)]
struct Node {
    labels: [Label; 2],
    /// The length in edges of the longest path from the node. It is larger than the height of every
    /// other node that can be reached.
    height: u32,
}

/// The result of one depth-first search for a node. Nodes are numbered in the order in which the
/// search leaves them.
#[derive(Debug, Clone, Copy)]
struct Label {
    /// The node's own number. It is lower than the number of every node from which this node is
    /// reached.
    own: u32,
    /// The lowest number in the node's part of the search tree. All nodes with numbers from this to
    /// `own` are reached.
    tree: u32,
    /// The lowest number of a node that is reached. Nodes with numbers below it or above `own` are
    /// not reached.
    low: u32,
}

const UNSEEN: Label = Label { own: u32::MAX, tree: u32::MAX, low: u32::MAX };

const UNKNOWN: Node = Node { labels: [UNSEEN; 2], height: 0 };

impl Labels {
    pub(super) fn new(successors: &Graph, predecessors: &Graph) -> Self {
        let mut labels = Self(vec![UNKNOWN; successors.nodes()]);
        let is_source = |node: &u32| predecessors.row(*node).is_empty();
        let nodes = 0..successors.nodes() as u32;
        labels.search::<0>(successors, nodes.clone().filter(is_source));
        labels.search::<1>(successors, nodes.rev().filter(is_source));
        labels
    }

    /// A depth-first search from each of `sources`, through the rows forwards if `WHICH` is 0,
    /// otherwise backwards.
    fn search<const WHICH: usize>(&mut self, graph: &Graph, sources: impl Iterator<Item = u32>) {
        let mut left = 0;
        let mut path: Vec<(u32, u32)> = Vec::new();
        for source in sources {
            path.push((source, 0));
            self.0[source as usize].labels[WHICH].tree = left;
            while let Some(&mut (node, ref mut next)) = path.last_mut() {
                let row = graph.row(node);
                let at = *next as usize;
                *next += 1;
                if at < row.len() {
                    let target = if WHICH == 0 { row[at] } else { row[row.len() - 1 - at] };
                    let label = &mut self.0[target as usize].labels[WHICH];
                    if label.tree == u32::MAX {
                        label.tree = left;
                        path.push((target, 0));
                    } else {
                        self.follow::<WHICH>(node, target);
                    }
                } else {
                    let label = &mut self.0[node as usize].labels[WHICH];
                    label.own = left;
                    label.low = label.low.min(left);
                    left += 1;
                    path.pop();
                    if let Some(&(parent, _)) = path.last() {
                        self.follow::<WHICH>(parent, node);
                    }
                }
            }
        }
    }

    /// Updates the labels of a node that has an edge to `target`, whose labels are complete.
    #[inline]
    fn follow<const WHICH: usize>(&mut self, node: u32, target: u32) {
        let Node { labels, height } = self.0[target as usize];
        let node = &mut self.0[node as usize];
        node.labels[WHICH].low = node.labels[WHICH].low.min(labels[WHICH].low);
        node.height = node.height.max(height + 1);
    }

    /// A number that ascends along every path.
    pub(super) fn position(&self, node: u32) -> u32 {
        u32::MAX - self.0[node as usize].labels[0].own
    }

    /// Decides if `from` reaches `to`; `None` if the labels do not tell.
    #[inline]
    pub(super) fn decide(&self, from: u32, to: u32) -> Option<bool> {
        let is_same = from == to;
        let (from, to) = (&self.0[from as usize], &self.0[to as usize]);
        if from.height <= to.height && !is_same {
            return Some(false);
        }
        let (from, to) = (&from.labels, &to.labels);
        let possible = |from: &Label, to: &Label| from.low <= to.low && to.own <= from.own;
        let certain = |from: &Label, to: &Label| from.tree <= to.own && to.own <= from.own;
        if !possible(&from[0], &to[0]) || !possible(&from[1], &to[1]) {
            Some(false)
        } else if certain(&from[0], &to[0]) || certain(&from[1], &to[1]) {
            Some(true)
        } else {
            None
        }
    }
}
