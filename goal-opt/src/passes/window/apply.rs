//! Makes a body in windows.

use super::run::Layout;
use crate::edit::Edges;
use goal_lang::{Action, ActionId, Body, Csr, Edge, Labels, Position};

/// Flags of an action: it has a prerequisite in its window (`HAS_PREREQUISITE`), or an action of
/// its window waits for its end (`HAS_END_WAITER`).
const HAS_PREREQUISITE: u8 = 1;
const HAS_END_WAITER: u8 = 2;

/// Returns the body in the order of its layout, with a dummy at the begin of each window but the
/// first.
pub(super) fn apply(body: &Body, layout: &Layout) -> Body {
    let len = layout.order.len() + layout.cuts.len();
    let mut places = Places { new: vec![ActionId(0); body.len()], cuts: &layout.cuts };
    let mut new = Body {
        pieces: body.pieces.clone(),
        scratch: body.scratch,
        buffers: body.buffers.clone(),
        ..Body::default()
    };
    new.actions.reserve(len);
    // For every action of the new body, the old action, or for a dummy the old action after it.
    let mut old = Vec::with_capacity(len);
    let mut cuts = layout.cuts.iter().copied().peekable();
    for (at, &action) in layout.order.iter().enumerate() {
        if cuts.next_if_eq(&(at as u32)).is_some() {
            new.actions.push(Action::Nop);
            old.push(action);
        }
        places.new[action as usize] = ActionId::new(new.actions.len());
        new.actions.push(body.actions[action as usize]);
        old.push(action);
    }
    copy_debug(body, &mut new, &old, layout);
    let mut flags = vec![0u8; len];
    let mut requires = places.inside(&body.requires, &body.debug.requires);
    for edge in &requires.edges {
        flags[edge.prerequisite.index()] |= HAS_END_WAITER;
        flags[edge.waiter.index()] |= HAS_PREREQUISITE;
    }
    let mut irequires = places.inside(&body.irequires, &body.debug.irequires);
    let position = |id: ActionId| body.debug.actions.get(old[id.index()] as usize).copied();
    for &(before, after) in &layout.pins {
        let edge =
            Edge { waiter: places.new[after as usize], prerequisite: places.new[before as usize] };
        if !is_ordered(body, &places, before, after) {
            irequires.push(edge, position(edge.waiter));
        }
    }
    for edge in &irequires.edges {
        flags[edge.waiter.index()] |= HAS_PREREQUISITE;
    }
    for (number, &cut) in layout.cuts.iter().enumerate() {
        let dummy = ActionId::new(cut as usize + number);
        let before =
            number.checked_sub(1).map_or(0, |before| layout.cuts[before] as usize + number);
        for sink in (before..dummy.index()).filter(|&at| flags[at] & HAS_END_WAITER == 0) {
            requires
                .push(Edge { waiter: dummy, prerequisite: ActionId::new(sink) }, position(dummy));
        }
        let end = layout.cuts.get(number + 1).map_or(len, |&next| next as usize + number + 1);
        for source in (dummy.index() + 1..end).filter(|&at| flags[at] & HAS_PREREQUISITE == 0) {
            requires
                .push(Edge { waiter: ActionId::new(source), prerequisite: dummy }, position(dummy));
        }
    }
    (new.requires, new.debug.requires) = requires.finish(len);
    (new.irequires, new.debug.irequires) = irequires.finish(len);
    new
}

/// The positions of the old actions in the new body.
struct Places<'a> {
    new: Vec<ActionId>,
    cuts: &'a [u32],
}

impl Places<'_> {
    /// The number of the window that contains a position of the new body.
    fn window(&self, place: ActionId) -> usize {
        // Window w begins w positions later than its cut says, because of the dummies before it.
        let (mut low, mut high) = (0, self.cuts.len());
        while low < high {
            let middle = (low + high) / 2;
            if self.cuts[middle] as usize + middle < place.index() {
                low = middle + 1
            } else {
                high = middle
            }
        }
        low
    }

    /// Returns the edges with both ends in the same window.
    fn inside(&self, csr: &Csr, positions: &[Position]) -> Edges {
        let mut inside = Edges { edges: Vec::new(), positions: Vec::new() };
        let mut window = (usize::MAX, 0..0);
        for (i, edge) in csr.edges().enumerate() {
            let (waiter, prerequisite) =
                (self.new[edge.waiter.index()], self.new[edge.prerequisite.index()]);
            if !window.1.contains(&prerequisite.index()) {
                let number = self.window(prerequisite);
                let start = number.checked_sub(1).map_or(0, |cut| self.cuts[cut] as usize + number);
                let end = self.cuts.get(number).map_or(usize::MAX, |&cut| cut as usize + number);
                window = (number, start..end);
            }
            if window.1.contains(&waiter.index()) {
                inside.push(Edge { waiter, prerequisite }, positions.get(i).copied());
            }
        }
        inside
    }
}

/// The most dependencies that [`is_ordered`] follows. If this bound is reached, a dependency is
/// added that may be implied.
const STEPS_MAX: usize = 256;

/// Returns true if dependencies between actions of a window already order the start of `before`
/// before the start of `after`.
fn is_ordered(body: &Body, places: &Places<'_>, before: u32, after: u32) -> bool {
    let goal = places.new[after as usize];
    let mut seen = vec![ActionId(before)];
    let (mut next, mut steps) = (0, 0);
    while let Some(&at) = seen.get(next) {
        next += 1;
        for &waiter in body.requires.row(at).iter().chain(body.irequires.row(at)) {
            steps += 1;
            if waiter.0 == after {
                return true;
            }
            if steps == STEPS_MAX {
                return false;
            }
            // Layouts are topological: no path to the goal leads through a later position.
            if places.new[waiter.index()] < goal && !seen.contains(&waiter) {
                seen.push(waiter);
            }
        }
    }
    false
}

/// Copies the debug information of actions. A dummy has that of the action after it, but no label.
fn copy_debug(body: &Body, new: &mut Body, old: &[u32], layout: &Layout) {
    let from = &body.debug;
    let debug = &mut new.debug;
    debug.source_name.clone_from(&from.source_name);
    if !from.actions.is_empty() {
        debug.actions = old.iter().map(|&old| from.actions[old as usize]).collect();
    }
    if !from.lines.is_empty() {
        debug.lines = old.iter().map(|&old| from.lines[old as usize]).collect();
    }
    if !from.labels.is_empty() {
        let mut labels = Labels::default();
        let mut cuts = layout.cuts.iter().copied().peekable();
        for (at, &action) in layout.order.iter().enumerate() {
            if cuts.next_if_eq(&(at as u32)).is_some() {
                labels.push("");
            }
            labels.push(from.labels.get(ActionId(action)).unwrap_or_default());
        }
        debug.labels = labels;
    }
}
