//! Whether one node of an acyclic graph can be reached from another, for many pairs of a large
//! graph.
//!
//! Labels of two depth-first searches answer most questions at once: an interval that must enclose
//! the other's where there is a path (GRAIL: Yildirim, Chaoji, Zaki, VLDB 2010), and the interval
//! of the search tree, within which there is one. A path also leads from what is higher above the
//! last nodes to what is lower. What they leave open is searched for from both ends, with a bound
//! on the work.

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
    /// By node, the search that saw it last and from which end.
    seen: Vec<u32>,
    search: u32,
    /// Edges that searches may still look at.
    steps_left: u64,
    /// Most edges that they may look at in all, as a multiple of the usual.
    effort: u64,
    forward: Vec<Step>,
    backward: Vec<Step>,
}

/// A node whose edges are being looked at.
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

    /// Allows the questions to come as much work as a new graph's.
    pub fn renew(&mut self) {
        let size = self.successors.nodes() as u64 + self.successors.edges() as u64;
        self.steps_left =
            (ORDER_STEPS_MAX + ORDER_STEPS_PER_EDGE * size).saturating_mul(self.effort);
    }

    /// Allows so many times as much work as usual, from now on.
    pub fn set_effort(&mut self, effort: u64) {
        self.effort = effort;
        self.renew();
    }

    /// The edges.
    pub fn graph(&self) -> &Graph {
        &self.successors
    }

    /// By node, how many edges lead to it.
    pub fn indegrees(&self) -> Vec<u32> {
        (0..self.predecessors.nodes() as u32)
            .map(|node| self.predecessors.row(node).len() as u32)
            .collect()
    }

    /// Nodes ascend by it along every path.
    pub fn position(&self, node: u32) -> u32 {
        self.labels.position(node)
    }

    /// Whether a path leads from `from` to `to`; a node reaches itself. `None` where the bound on
    /// the work was too small to find out.
    pub fn reaches(&mut self, from: u32, to: u32) -> Option<bool> {
        self.labels.decide(from, to).or_else(|| self.search(from, to))
    }

    /// Searches from both ends in turn, an edge at a time, so that a node with very many edges on
    /// one side does no harm where the other side is narrow.
    fn search(&mut self, from: u32, to: u32) -> Option<bool> {
        // The searches could pass by a path of one edge, which questions are often about.
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

    /// Two marks that no node has.
    fn next_search(&mut self) -> [u32; 2] {
        if self.search >= u32::MAX - 2 {
            self.seen.fill(0);
            self.search = 0;
        }
        self.search += 2;
        [self.search - 1, self.search]
    }
}

/// The node at the end of the next edge; none where a node's edges have just come to their end.
/// `None` where all have.
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
