//! Topological layout (paper III: actions "will be pre-scheduled ... by running a topological sort").

use super::edit::Edges;
use goal_lang::{ActionId, Body, Csr, Edge, Labels};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Lays out the actions so that each comes after all that it waits for. Among those that could come next the first of the
/// text does, so a body in topological order stays as it is. False where nothing changed.
///
/// # Panics
/// If the graph has a cycle: the verifier refuses these.
pub fn topological(body: &mut Body) -> bool {
    let forward = |csr: &Csr| csr.edges().all(|edge| edge.prerequisite < edge.waiter);
    if forward(&body.requires) && forward(&body.irequires) {
        return false;
    }
    let order = stable_order(body);
    assert_eq!(order.len(), body.len(), "a cycle");
    permute(body, &order);
    true
}

fn stable_order(body: &Body) -> Vec<ActionId> {
    let mut waiting = body.indegrees();
    let mut ready: BinaryHeap<Reverse<ActionId>> =
        body.ids().filter(|id| waiting[id.index()] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(body.len());
    while let Some(Reverse(id)) = ready.pop() {
        order.push(id);
        for &waiter in body.requires.row(id).iter().chain(body.irequires.row(id)) {
            waiting[waiter.index()] -= 1;
            if waiting[waiter.index()] == 0 {
                ready.push(Reverse(waiter));
            }
        }
    }
    order
}

/// Puts the actions in the given order, with all that is known of each.
fn permute(body: &mut Body, order: &[ActionId]) {
    let mut place = vec![ActionId(0); order.len()];
    for (new, old) in order.iter().enumerate() {
        place[old.index()] = ActionId::new(new);
    }
    body.actions = order.iter().map(|old| body.actions[old.index()]).collect();
    let moved = |csr: &Csr, positions: &[u64]| {
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
