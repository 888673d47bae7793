//! Decides if one node of an acyclic graph can be reached from another, for many pairs of a large
//! graph.
//!
//! Labels of two depth-first searches answer most questions at once. If there is a path, the
//! interval of the first node encloses that of the second (GRAIL: Yildirim, Chaoji, Zaki, VLDB
//! 2010); within the interval of the search tree there is always a path; and every path leads from
//! a larger height to a smaller one. The other questions are answered by a search from both ends,
//! with a bound on the work.

mod graph;
mod labels;
#[cfg(test)]
mod tests;

pub use graph::Graph;

use crate::limits::{ORDER_STEPS_MAX, ORDER_STEPS_PER_EDGE};
use labels::Labels;

/// Answers to questions about the paths of one graph.
#[derive(Debug)]
pub struct Reach {
    successors: Graph,
    predecessors: Graph,
    labels: Labels,
    /// By node, the mark of the search that visited it last. Each search has one mark for each end.
    seen: Vec<u32>,
    search: u32,
    /// The number of edges that searches may still visit.
    steps_left: u64,
    /// The bound on the work, as a multiple of the default.
    effort: u64,
    forward: Vec<Step>,
    backward: Vec<Step>,
}

/// A node whose edges are being followed.
#[derive(Debug, Clone, Copy)]
struct Step {
    node: u32,
    next: u32,
}

impl Reach {
    /// Labels a graph, which must have no cycle. Linear in nodes and edges.
    pub fn new(successors: Graph) -> Self {
        let predecessors = successors.reversed();
        let labels = Labels::new(&successors, &predecessors);
        let mut reach = Self {
            labels,
            seen: vec![0; successors.nodes()],
            search: 0,
            steps_left: 0,
            effort: 1,
            forward: Vec::new(),
            backward: Vec::new(),
            successors,
            predecessors,
        };
        reach.renew();
        reach
    }

    /// Resets the bound on the work of questions.
    pub fn renew(&mut self) {
        let size = self.successors.nodes() as u64 + self.successors.edges() as u64;
        self.steps_left =
            (ORDER_STEPS_MAX + ORDER_STEPS_PER_EDGE * size).saturating_mul(self.effort);
    }

    /// Sets the bound on the work, as a multiple of the default, and resets it.
    pub fn set_effort(&mut self, effort: u64) {
        self.effort = effort;
        self.renew();
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.successors
    }

    /// By node, the number of edges that lead to it.
    pub fn indegrees(&self) -> Vec<u32> {
        (0..self.predecessors.nodes() as u32)
            .map(|node| self.predecessors.row(node).len() as u32)
            .collect()
    }

    /// A number that ascends along every path.
    pub fn position(&self, node: u32) -> u32 {
        self.labels.position(node)
    }

    /// Decides if a path leads from `from` to `to`. A node reaches itself. Returns `None` if the
    /// bound on the work is reached.
    pub fn reaches(&mut self, from: u32, to: u32) -> Option<bool> {
        self.labels.decide(from, to).or_else(|| self.search(from, to))
    }

    /// Searches from both ends, alternating edge by edge, so that a node with very many edges on
    /// one side does no harm if the other side is narrow.
    fn search(&mut self, from: u32, to: u32) -> Option<bool> {
        // The searches from both ends would miss a path of one edge, which is common.
        let (after, before) = (self.successors.row(from), self.predecessors.row(to));
        let steps = after.len().min(before.len()) as u64;
        if steps <= self.steps_left {
            self.steps_left -= steps;
            let is_direct = if after.len() < before.len() {
                after.contains(&to)
            } else {
                before.contains(&from)
            };
            if is_direct {
                return Some(true);
            }
        }
        let [ahead, behind] = self.next_search();
        self.seen[from as usize] = ahead;
        self.seen[to as usize] = behind;
        self.forward.clear();
        self.backward.clear();
        self.forward.push(Step { node: from, next: 0 });
        self.backward.push(Step { node: to, next: 0 });
        let most = self.steps_left.min((ORDER_STEPS_MAX / 64).saturating_mul(self.effort));
        for step in 0..most {
            let Some(node) = edge(&mut self.forward, &self.successors) else {
                self.steps_left -= step;
                return Some(false);
            };
            if let Some(node) = node
                && self.seen[node as usize] != ahead
            {
                let verdict = self.labels.decide(node, to);
                if verdict == Some(true) || self.seen[node as usize] == behind {
                    self.steps_left -= step;
                    return Some(true);
                }
                self.seen[node as usize] = ahead;
                if verdict.is_none() {
                    self.forward.push(Step { node, next: 0 });
                }
            }
            let Some(node) = edge(&mut self.backward, &self.predecessors) else {
                self.steps_left -= step;
                return Some(false);
            };
            if let Some(node) = node
                && self.seen[node as usize] != behind
            {
                let verdict = self.labels.decide(from, node);
                if verdict == Some(true) || self.seen[node as usize] == ahead {
                    self.steps_left -= step;
                    return Some(true);
                }
                self.seen[node as usize] = behind;
                if verdict.is_none() {
                    self.backward.push(Step { node, next: 0 });
                }
            }
        }
        self.steps_left -= most;
        None
    }

    /// Returns two marks that no node has yet: one for the search forwards, one for the search
    /// backwards.
    fn next_search(&mut self) -> [u32; 2] {
        if self.search >= u32::MAX - 2 {
            self.seen.fill(0);
            self.search = 0;
        }
        self.search += 2;
        [self.search - 1, self.search]
    }
}

/// Returns the target of the next edge. `Some(None)` when the edges of a node have just ended, and
/// `None` when the edges of all nodes have.
#[allow(clippy::option_option)]
fn edge(steps: &mut Vec<Step>, graph: &Graph) -> Option<Option<u32>> {
    let step = steps.last_mut()?;
    let target = graph.row(step.node).get(step.next as usize).copied();
    step.next += 1;
    if target.is_none() {
        steps.pop();
    }
    Some(target)
}
