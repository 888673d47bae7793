//! Topological order over both kinds of dependencies.

use super::body::Body;
use crate::ids::ActionId;

/// Actions that wait for each other: each waits for the next, the last for the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle(pub Vec<ActionId>);

/// Sorts the actions so that each comes after all actions that it waits for; actions that are ready
/// at the same time come in the order of their release (Kahn). Takes time linear in actions and
/// edges, without recursion.
///
/// # Errors
/// Returns a cycle if the dependencies form any.
pub fn topological_order(body: &Body) -> Result<Vec<ActionId>, Cycle> {
    let mut waiting = body.indegrees();
    let mut order: Vec<ActionId> = body.ids().filter(|id| waiting[id.index()] == 0).collect();
    let mut done = 0;
    while let Some(&id) = order.get(done) {
        done += 1;
        for &waiter in body.requires.row(id).iter().chain(body.irequires.row(id)) {
            waiting[waiter.index()] -= 1;
            if waiting[waiter.index()] == 0 {
                order.push(waiter);
            }
        }
    }
    if order.len() == body.len() { Ok(order) } else { Err(find_cycle(body, &waiting)) }
}

/// Returns a cycle. Every action with `waiting > 0` has a prerequisite with `waiting > 0`, so a
/// walk back over prerequisites must close a cycle.
fn find_cycle(body: &Body, waiting: &[u32]) -> Cycle {
    let mut blocker = vec![None; body.len()];
    for edge in body.requires.edges().chain(body.irequires.edges()) {
        if waiting[edge.prerequisite.index()] > 0 && waiting[edge.waiter.index()] > 0 {
            blocker[edge.waiter.index()].get_or_insert(edge.prerequisite);
        }
    }
    let first =
        body.ids().find(|id| waiting[id.index()] > 0).expect("a cycle leaves an action waiting");
    let mut step_of = vec![usize::MAX; body.len()];
    let mut path = Vec::new();
    let mut at = first;
    while step_of[at.index()] == usize::MAX {
        step_of[at.index()] = path.len();
        path.push(at);
        at = blocker[at.index()].expect("a waiting action has a waiting prerequisite");
    }
    path.drain(..step_of[at.index()]);
    Cycle(path)
}
