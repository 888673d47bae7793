//! Removes actions and dependencies.

use super::reducer::Reducer;
use goal_lang::{ActionId, Body, Csr, Edge, topological_order};
use goal_opt::edit::Removal;

/// The most dependencies that a removed action passes on: it limits the cost of adverse graphs. If
/// a candidate lacks dependencies for this reason, the verdict decides if it is of use.
const HANDED_ON_MAX: usize = 16;

/// Removes actions of one rank at a time.
pub(super) fn reduce(reducer: &mut Reducer<'_>) {
    let parts = reducer.best.bodies.iter().map(Body::len).sum();
    reducer.take_away(parts, |program, gone| {
        let mut program = program.clone();
        let mut gone = gone;
        for body in &mut program.bodies {
            let (of_body, rest) = gone.split_at(body.len());
            remove(body, of_body.to_vec());
            gone = rest;
        }
        Some(program)
    });
}

/// Removes dependencies of both kinds.
pub(super) fn reduce_dependencies(reducer: &mut Reducer<'_>) {
    let parts =
        reducer.best.bodies.iter().map(|body| body.requires.len() + body.irequires.len()).sum();
    reducer.take_away(parts, |program, gone| {
        let mut program = program.clone();
        let mut gone = gone.iter();
        for body in &mut program.bodies {
            let actions = body.len();
            for edges in [&mut body.requires, &mut body.irequires] {
                let left: Vec<Edge> =
                    edges.edges().filter(|_| !gone.next().expect("an entry an edge")).collect();
                *edges = Csr::from_edges(actions, &left);
            }
        }
        Some(program)
    });
}

/// Removes the actions that are true in `gone`. An action that waited for a removed action then
/// waits for the prerequisites of the removed action, each by its end or its start as before.
pub(super) fn remove(body: &mut Body, gone: Vec<bool>) {
    if !gone.contains(&true) {
        return;
    }
    let mut removal = Removal::new(body);
    let order = topological_order(body).expect("a valid body has no cycle");
    let prerequisites =
        [body.requires.transposed(body.len()), body.irequires.transposed(body.len())];
    // By removed action, the prerequisites that it passes on: 0 for an end or 1 for a start, and
    // the action.
    let mut handed_on: Vec<Vec<(usize, ActionId)>> = vec![Vec::new(); body.len()];
    for waiter in order {
        let mut inherited = Vec::new();
        for (kind, rows) in prerequisites.iter().enumerate() {
            for &prerequisite in rows.row(waiter) {
                if gone[prerequisite.index()] {
                    inherited.extend_from_slice(&handed_on[prerequisite.index()]);
                } else if gone[waiter.index()] {
                    inherited.push((kind, prerequisite));
                }
            }
        }
        inherited.sort_unstable();
        inherited.dedup();
        if gone[waiter.index()] {
            inherited.truncate(HANDED_ON_MAX);
            handed_on[waiter.index()] = inherited;
            continue;
        }
        for (kind, prerequisite) in inherited {
            let edges = if kind == 0 { &mut removal.requires } else { &mut removal.irequires };
            edges.push(Edge { waiter, prerequisite }, None);
        }
    }
    removal.gone = gone;
    removal.finish(body);
}
