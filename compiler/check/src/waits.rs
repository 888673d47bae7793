//! Finds the actions that the unfinished actions of a stuck run wait for, and the cycles among
//! these waits.

use super::pairing::Pairing;
use crate::analysis::Analysis;
use goal_lang::Csr;
use goal_opt::whole::Vertex;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// Bound on the cycles that are searched for.
const CYCLES_MAX: usize = 16;
/// Bound on the actions that are visited to shorten cycles.
const LOOKS_MAX: usize = 1 << 18;

/// The waits of the actions that a run did not end.
pub(crate) struct Waits<'a> {
    analysis: &'a Analysis<'a>,
    pairing: &'a Pairing,
    /// By body, two tables: for each action, the actions that it requires, and the actions that it
    /// irequires. `None` until the body is first needed.
    prerequisites: Vec<Option<[Csr; 2]>>,
    /// The number of actions that may still be visited to shorten cycles.
    looks: usize,
}

impl<'a> Waits<'a> {
    pub(crate) fn new(analysis: &'a Analysis<'a>, pairing: &'a Pairing) -> Self {
        let bodies = analysis.whole.program.bodies.len();
        Self {
            analysis,
            pairing,
            prerequisites: (0..bodies).map(|_| None).collect(),
            looks: LOOKS_MAX,
        }
    }

    /// Returns the actions that an unfinished action still waits for. If it has started, this is
    /// the other end of its message. Otherwise these are the prerequisites that have not ended
    /// (`requires`) or not started (`irequires`).
    pub(crate) fn of(&mut self, vertex: Vertex) -> Vec<Vertex> {
        let Analysis { whole, trace, .. } = self.analysis;
        if trace.has_started(vertex) {
            return self.pairing.expected.get(&vertex).copied().into_iter().collect();
        }
        let (rank, id, body) = (whole.rank(vertex), whole.id(vertex), whole.body(vertex));
        let index = whole.program.ranks[rank as usize].body.index();
        let [requires, irequires] = self.prerequisites[index].get_or_insert_with(|| {
            [body.requires.transposed(body.len()), body.irequires.transposed(body.len())]
        });
        let vertices = |ids: &[goal_lang::ActionId]| -> Vec<Vertex> {
            ids.iter().map(|&id| whole.vertex(rank, id)).collect()
        };
        let ends =
            vertices(requires.row(id)).into_iter().filter(|&vertex| !trace.has_ended(vertex));
        let starts =
            vertices(irequires.row(id)).into_iter().filter(|&vertex| !trace.has_started(vertex));
        ends.chain(starts).collect()
    }

    /// Finds cycles that share no action, the shortest first. In a cycle, each action waits for the
    /// next one.
    pub(crate) fn cycles(&mut self) -> Vec<Vec<Vertex>> {
        let Analysis { whole, trace, .. } = self.analysis;
        let mut done = FxHashSet::default();
        let mut cycles = Vec::new();
        for root in
            whole.vertices().filter(|&vertex| trace.has_started(vertex) && !trace.has_ended(vertex))
        {
            if cycles.len() == CYCLES_MAX {
                break;
            }
            if let Some(cycle) = self.search(root, &mut done) {
                cycles.push(self.shortened(cycle));
            }
        }
        cycles.sort_by_key(Vec::len);
        cycles
    }

    /// Finds a cycle that can be reached from `root` through actions that are not in `done`. Depth
    /// first with an explicit stack, as a chain may have a million actions.
    fn search(&mut self, root: Vertex, done: &mut FxHashSet<Vertex>) -> Option<Vec<Vertex>> {
        if done.contains(&root) {
            return None;
        }
        let mut path = vec![(root, self.of(root).into_iter())];
        let mut places = FxHashMap::from_iter([(root, 0)]);
        while let Some((vertex, next)) = path.last_mut() {
            let Some(next) = next.next() else {
                done.insert(*vertex);
                places.remove(vertex);
                path.pop();
                continue;
            };
            if let Some(&place) = places.get(&next) {
                done.extend(path.iter().map(|&(vertex, _)| vertex));
                return Some(path[place..].iter().map(|&(vertex, _)| vertex).collect());
            }
            if !done.contains(&next) {
                places.insert(next, path.len());
                path.push((next, self.of(next).into_iter()));
            }
        }
        None
    }

    /// Replaces a cycle by the shortest one through any of its actions, as far as the bound on
    /// visits allows.
    fn shortened(&mut self, mut cycle: Vec<Vertex>) -> Vec<Vertex> {
        for start in cycle.clone() {
            if let Some(shorter) = self.shortest(start, cycle.len()) {
                cycle = shorter;
            }
        }
        // A reader looks first at actions that have started, so the cycle begins with one of them.
        let trace = self.analysis.trace;
        let first = (0..cycle.len()).min_by_key(|&at| (!trace.has_started(cycle[at]), cycle[at]));
        cycle.rotate_left(first.unwrap_or(0));
        cycle
    }

    /// Finds the shortest cycle through `start` if it has fewer than `length` actions.
    fn shortest(&mut self, start: Vertex, length: usize) -> Option<Vec<Vertex>> {
        let mut from = FxHashMap::default();
        let mut todo = VecDeque::from([(start, 1)]);
        while let Some((vertex, depth)) = todo.pop_front() {
            if depth >= length || self.looks == 0 {
                return None;
            }
            self.looks -= 1;
            for next in self.of(vertex) {
                if next == start {
                    let mut cycle = vec![vertex];
                    while cycle[cycle.len() - 1] != start {
                        cycle.push(from[&cycle[cycle.len() - 1]]);
                    }
                    cycle.reverse();
                    return Some(cycle);
                }
                if next != start && !from.contains_key(&next) {
                    from.insert(next, vertex);
                    todo.push_back((next, depth + 1));
                }
            }
        }
        None
    }
}
