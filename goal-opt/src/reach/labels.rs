//! Labels that decide most questions about paths without a search.

use super::Graph;

/// Two labels a node, from two depth-first searches that take edges in opposite orders.
#[derive(Debug)]
pub(super) struct Labels(Vec<[Label; 2]>);

/// What one depth-first search knows of a node. Nodes are numbered in the order in which the search leaves them.
#[derive(Debug, Clone, Copy)]
struct Label {
    /// The node's own number: lower than that of every node that leads to it.
    own: u32,
    /// The lowest number in the node's part of the search tree: what lies from here to `own` is reached.
    tree: u32,
    /// The lowest number that is reached at all: what lies outside of here to `own` is not reached.
    low: u32,
}

const UNSEEN: Label = Label { own: u32::MAX, tree: u32::MAX, low: u32::MAX };

impl Labels {
    pub(super) fn new(successors: &Graph, predecessors: &Graph) -> Self {
        let mut labels = Self(vec![[UNSEEN; 2]; successors.nodes()]);
        let is_source = |node: &u32| predecessors.row(*node).is_empty();
        let nodes = 0..successors.nodes() as u32;
        labels.search::<0>(successors, nodes.clone().filter(is_source));
        labels.search::<1>(successors, nodes.rev().filter(is_source));
        labels
    }

    /// A depth-first search from each of `sources`, forwards through the rows if `WHICH` is 0, else backwards.
    fn search<const WHICH: usize>(&mut self, graph: &Graph, sources: impl Iterator<Item = u32>) {
        let mut left = 0;
        let mut path: Vec<(u32, u32)> = Vec::new();
        for source in sources {
            path.push((source, 0));
            self.0[source as usize][WHICH].tree = left;
            while let Some(&mut (node, ref mut next)) = path.last_mut() {
                let row = graph.row(node);
                let at = *next as usize;
                *next += 1;
                if at < row.len() {
                    let target = if WHICH == 0 { row[at] } else { row[row.len() - 1 - at] };
                    let label = &mut self.0[target as usize][WHICH];
                    if label.tree == u32::MAX {
                        label.tree = left;
                        path.push((target, 0));
                    } else {
                        let low = label.low;
                        let label = &mut self.0[node as usize][WHICH];
                        label.low = label.low.min(low);
                    }
                } else {
                    let label = &mut self.0[node as usize][WHICH];
                    label.own = left;
                    label.low = label.low.min(left);
                    let low = label.low;
                    left += 1;
                    path.pop();
                    if let Some(&(parent, _)) = path.last() {
                        let label = &mut self.0[parent as usize][WHICH];
                        label.low = label.low.min(low);
                    }
                }
            }
        }
    }

    /// Ascends along every path.
    pub(super) fn position(&self, node: u32) -> u32 {
        u32::MAX - self.0[node as usize][0].own
    }

    /// Whether `from` reaches `to`, where the labels tell.
    #[inline]
    pub(super) fn decide(&self, from: u32, to: u32) -> Option<bool> {
        let (from, to) = (&self.0[from as usize], &self.0[to as usize]);
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
