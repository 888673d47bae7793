//! A new layout for a body.

use super::edit::Edges;
use goal_lang::{ActionId, Body, Csr, Edge, Labels, Position};

/// Puts the actions in the given order, with all that is known of each.
pub(crate) fn permute(body: &mut Body, order: &[ActionId]) {
    let mut place = vec![ActionId(0); order.len()];
    for (new, old) in order.iter().enumerate() {
        place[old.index()] = ActionId::new(new);
    }
    body.actions = order.iter().map(|old| body.actions[old.index()]).collect();
    let moved = |csr: &Csr, positions: &[Position]| {
        let mut edges = Edges::new(csr, positions);
        for edge in &mut edges.edges {
            *edge =
                Edge { waiter: place[edge.waiter.index()], prerequisite: place[edge.prerequisite.index()] };
        }
        edges.finish(order.len())
    };
    let debug = &mut body.debug;
    (body.requires, debug.requires) = moved(&body.requires, &debug.requires);
    (body.irequires, debug.irequires) = moved(&body.irequires, &debug.irequires);
    if !debug.actions.is_empty() {
        debug.actions = order.iter().map(|old| debug.actions[old.index()]).collect();
    }
    if !debug.lines.is_empty() {
        debug.lines = order.iter().map(|old| debug.lines[old.index()]).collect();
    }
    if !debug.labels.is_empty() {
        let mut labels = Labels::default();
        for &old in order {
            labels.push(debug.labels.get(old).unwrap_or_default());
        }
        debug.labels = labels;
    }
}
