//! A new layout for a body.

use goal_lang::{ActionId, Body, Labels};

/// Puts the actions in the given order, with all that is known of each.
pub(crate) fn permute(body: &mut Body, order: &[ActionId]) {
    body.actions = order.iter().map(|old| body.actions[old.index()]).collect();
    let debug = &mut body.debug;
    debug.order = None;
    (body.requires, debug.requires) = body.requires.permuted(order, &debug.requires);
    (body.irequires, debug.irequires) = body.irequires.permuted(order, &debug.irequires);
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
