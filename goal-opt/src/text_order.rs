//! The order in which a reader of the text expects a body's actions to happen.

use goal_lang::{ActionId, Body};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A body's actions in the order of its text, as far as the dependencies of both kinds allow.
pub fn first_to_last(body: &Body) -> Vec<ActionId> {
    let mut edges = body.requires.edges().chain(body.irequires.edges());
    if edges.all(|edge| edge.prerequisite < edge.waiter) {
        return body.ids().collect();
    }
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
