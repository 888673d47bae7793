//! Rewrites a body with actions in segments.

use super::bytes::Facts;
use super::cut::Cut;
use super::slice::{self, Touched};
use crate::edit::Edges;
use goal_lang::{Action, ActionId, Body, Debug, Edge, Labels, Position, topological_order};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Returns the body with segments in place of the actions in `splits`. `RULES.md` defines the
/// dependencies.
pub(super) fn apply(body: &Body, facts: &Facts, splits: &[(ActionId, Cut)]) -> Body {
    let parts = Parts::new(body, splits);
    let mut new = Body {
        pieces: body.pieces.clone(),
        scratch: body.scratch,
        buffers: body.buffers.clone(),
        ..Body::default()
    };
    for id in body.ids() {
        for part in 0..parts.count(id) {
            let action = match parts.is_split(id) {
                true => {
                    let bytes = parts.bytes(id, part);
                    slice::part(&mut new, *body.action(id), bytes.start, bytes.end)
                }
                false => *body.action(id),
            };
            new.actions.push(action);
        }
    }
    new.debug = debug(body, &parts);
    let mut rewrite = Rewrite {
        body,
        facts,
        parts,
        requires: Edges { edges: Vec::new(), positions: Vec::new() },
        irequires: Edges { edges: Vec::new(), positions: Vec::new() },
    };
    rewrite.ends();
    rewrite.conflicts();
    rewrite.starts();
    rewrite.channels();
    let actions = new.len();
    (new.requires, new.debug.requires) = rewrite.requires.finish(actions);
    (new.irequires, new.debug.irequires) = rewrite.irequires.finish(actions);
    new
}

/// The positions of the parts of each action in the new body.
struct Parts {
    /// By action, the position of its first part; one more entry for the end.
    first: Vec<u32>,
    /// By action, its split; `None` if it stays whole.
    cut: Vec<Option<Cut>>,
    /// By action that is split, its size in bytes.
    size: Vec<u64>,
}

impl Parts {
    fn new(body: &Body, splits: &[(ActionId, Cut)]) -> Self {
        let (mut cut, mut size) = (vec![None; body.len()], vec![0; body.len()]);
        for &(id, of_id) in splits {
            cut[id.index()] = Some(of_id);
            size[id.index()] = slice::size(body, body.action(id));
        }
        let mut first = vec![0];
        for (id, cut) in cut.iter().enumerate() {
            first.push(first[id] + cut.map_or(1, |cut| cut.parts) as u32);
        }
        Self { first, cut, size }
    }

    fn is_split(&self, id: ActionId) -> bool {
        self.cut[id.index()].is_some()
    }

    fn count(&self, id: ActionId) -> usize {
        (self.first[id.index() + 1] - self.first[id.index()]) as usize
    }

    /// The range of the action's bytes that are in a part.
    fn bytes(&self, id: ActionId, part: usize) -> Range<u64> {
        let segment = self.cut[id.index()].map_or(0, |cut| cut.segment);
        let is_last = part + 1 == self.count(id);
        let start = part as u64 * segment;
        start..if is_last { self.size[id.index()] } else { start + segment }
    }

    fn part(&self, id: ActionId, part: usize) -> ActionId {
        ActionId(self.first[id.index()] + part as u32)
    }

    fn first(&self, id: ActionId) -> ActionId {
        self.part(id, 0)
    }

    fn last(&self, id: ActionId) -> ActionId {
        self.part(id, self.count(id) - 1)
    }
}

struct Rewrite<'a> {
    body: &'a Body,
    facts: &'a Facts,
    parts: Parts,
    requires: Edges,
    irequires: Edges,
}

impl Rewrite<'_> {
    /// Adds the dependencies on ends. If b waited for the end of a, the first part of b waits for
    /// all parts of a. But if both are split and access the same bytes, only two parts of b wait
    /// here. The first waits for the first part of a, and the last for all parts of a with other
    /// bytes than b. [`conflicts`](Self::conflicts) adds the rest.
    fn ends(&mut self) {
        for (i, edge) in self.body.requires.edges().enumerate() {
            let position = self.body.debug.requires.get(i).copied();
            let Edge { waiter, prerequisite } = edge;
            let (first, last) = (self.parts.first(waiter), self.parts.last(waiter));
            let is_pipelined = self.is_pipelined(prerequisite, waiter);
            let mut awaited = vec![false; self.parts.count(prerequisite)];
            if is_pipelined {
                self.overlaps(prerequisite, waiter, |before, _| awaited[before] = true);
            }
            for (part, awaited) in awaited.into_iter().enumerate() {
                let prerequisite = self.parts.part(prerequisite, part);
                if !is_pipelined || part == 0 {
                    self.requires.push(Edge { waiter: first, prerequisite }, position);
                } else if !awaited {
                    self.requires.push(Edge { waiter: last, prerequisite }, position);
                }
            }
        }
    }

    fn is_pipelined(&self, before: ActionId, after: ActionId) -> bool {
        self.parts.is_split(before)
            && self.parts.is_split(after)
            && self.facts.conflicts.binary_search(&(before, after)).is_ok()
    }

    /// Adds dependencies that keep the order of parts that access the same bytes.
    fn conflicts(&mut self) {
        for &(before, after) in &self.facts.conflicts {
            if !self.is_pipelined(before, after) {
                continue;
            }
            let stated = self.body.requires.position(Edge { waiter: after, prerequisite: before });
            let position = stated.and_then(|at| self.body.debug.requires.get(at).copied());
            let position = position.or_else(|| self.place(after));
            let mut edges = Vec::new();
            self.overlaps(before, after, |x, y| {
                let (prerequisite, waiter) =
                    (self.parts.part(before, x), self.parts.part(after, y));
                edges.push(Edge { waiter, prerequisite });
            });
            edges.into_iter().for_each(|edge| self.requires.push(edge, position));
        }
    }

    /// Adds the dependencies on starts. The parts of an action start one after the other. If b
    /// waited for the start of a, the first part of b waits for the start of the last part of a.
    fn starts(&mut self) {
        for (i, edge) in self.body.irequires.edges().enumerate() {
            let (waiter, prerequisite) =
                (self.parts.first(edge.waiter), self.parts.last(edge.prerequisite));
            self.irequires
                .push(Edge { waiter, prerequisite }, self.body.debug.irequires.get(i).copied());
        }
        for id in self.body.ids() {
            let position = self.place(id);
            for part in 1..self.parts.count(id) {
                let (waiter, prerequisite) =
                    (self.parts.part(id, part), self.parts.part(id, part - 1));
                self.irequires.push(Edge { waiter, prerequisite }, position);
            }
        }
    }

    /// Keeps the order of messages with the same source, destination and tag, by dependencies, if
    /// one of them is split.
    fn channels(&mut self) {
        let mut last = FxHashMap::default();
        for id in topological_order(self.body).expect("a verified body has no cycle") {
            let key = match *self.body.action(id) {
                Action::Send { to, tag, .. } => (true, to, tag),
                Action::Recv { from, tag, .. } => (false, from, tag),
                _ => continue,
            };
            let Some(before) = last.insert(key, id) else { continue };
            if self.parts.is_split(before) || self.parts.is_split(id) {
                let edge =
                    Edge { waiter: self.parts.first(id), prerequisite: self.parts.last(before) };
                self.irequires.push(edge, self.place(id));
            }
        }
    }

    /// The place of an action in the text.
    fn place(&self, id: ActionId) -> Option<Position> {
        self.body.debug.actions.get(id.index()).copied()
    }

    /// Calls `visit` with pairs of parts of two split actions that access the same bytes, if one of
    /// them writes.
    fn overlaps(&self, before: ActionId, after: ActionId, mut visit: impl FnMut(usize, usize)) {
        let touched = |id: ActionId| slice::touched(self.body, self.body.action(id));
        let later = touched(after);
        for x in touched(before) {
            for y in &later {
                let (start, end) = (
                    x.piece.addr.max(y.piece.addr),
                    (x.piece.addr + x.piece.size).min(y.piece.addr + y.piece.size),
                );
                if x.piece.space != y.piece.space || !(x.access.writes() || y.access.writes()) {
                    continue;
                }
                let mut at = start;
                while at < end {
                    let (first, first_end) = self.part_at(before, &x, at);
                    let (second, second_end) = self.part_at(after, y, at);
                    visit(first, second);
                    at = first_end.min(second_end);
                }
            }
        }
    }

    /// The part of a split action that contains the byte at an address, and the address where the
    /// part ends.
    fn part_at(&self, id: ActionId, touched: &Touched, at: u64) -> (usize, u64) {
        let byte = touched.offset + (at - touched.piece.addr);
        let segment = self.parts.cut[id.index()].map_or(u64::MAX, |cut| cut.segment);
        let part = ((byte / segment) as usize).min(self.parts.count(id) - 1);
        (part, at + (self.parts.bytes(id, part).end - byte))
    }
}

/// The debug information: the first part has the label, all parts have the place.
fn debug(body: &Body, parts: &Parts) -> Debug {
    let from = &body.debug;
    let mut debug = Debug { source_name: from.source_name.clone(), ..Debug::default() };
    let mut labels = Labels::default();
    for id in body.ids() {
        for part in 0..parts.count(id) {
            debug.actions.extend(from.actions.get(id.index()));
            debug.lines.extend(from.lines.get(id.index()));
            if !from.labels.is_empty() {
                labels.push(from.labels.get(id).filter(|_| part == 0).unwrap_or_default());
            }
        }
    }
    debug.labels = labels;
    debug
}
