//! Joins: trees of dummies, by which an action waits for more others than NISA can count.
//!
//! The number of prerequisites of an action has a limit. The number of actions that wait for an
//! action has none: the engine releases them in one pass over a row. A tree of dummies for them
//! would only add actions and depth.

use crate::edit::{Edges, permute};
use goal_lang::{Action, ActionId, Body, Edge, Position};

/// Gives every action at most `most` dependencies. An action with more waits for dummy actions
/// instead (paper III.D, Theorem 4), which share the dependencies evenly, in a tree of as many
/// levels as needed. A dummy ends as soon as it starts, so waiting for a dummy that waits for the
/// start of an action is waiting for that start. Dummies are placed right before the action that
/// waits for them, so a layout in topological order stays in that order. Returns false if nothing
/// changed.
///
/// # Panics
/// If a body would have 2^32 actions, or `most` is below 2.
pub(crate) fn join(body: &mut Body, most: usize) -> bool {
    assert!(most >= 2, "a tree needs branches");
    if body.requires.len() + body.irequires.len() <= most {
        return false;
    }
    let indegrees = body.indegrees();
    let heavy: Vec<bool> = indegrees.iter().map(|&indegree| indegree as usize > most).collect();
    if !heavy.contains(&true) {
        return false;
    }
    let mut requires = Edges::new(&body.requires, &body.debug.requires);
    let mut irequires = Edges::new(&body.irequires, &body.debug.irequires);
    let mut sources: Vec<Vec<Source>> = vec![Vec::new(); body.len()];
    for (i, edge) in
        requires.edges.iter().enumerate().filter(|(_, edge)| heavy[edge.waiter.index()])
    {
        sources[edge.waiter.index()].push(Source::End(i));
    }
    for (i, edge) in
        irequires.edges.iter().enumerate().filter(|(_, edge)| heavy[edge.waiter.index()])
    {
        sources[edge.waiter.index()].push(Source::Start(i));
    }
    let mut order: Vec<ActionId> = Vec::with_capacity(body.len());
    for (waiter, sources) in sources.into_iter().enumerate() {
        let waiter = ActionId::new(waiter);
        if !sources.is_empty() {
            let mut joins: Vec<(ActionId, Option<Position>)> = Vec::new();
            for group in evenly(&sources, most) {
                let join = new_join(body, waiter);
                for source in group {
                    match *source {
                        Source::End(i) => requires.edges[i].waiter = join,
                        Source::Start(i) => irequires.edges[i].waiter = join,
                    }
                }
                let position = match group[0] {
                    Source::End(i) => requires.positions.get(i),
                    Source::Start(i) => irequires.positions.get(i),
                };
                joins.push((join, position.copied()));
            }
            order.extend(joins.iter().map(|&(join, _)| join));
            while joins.len() > most {
                let mut above = Vec::new();
                for group in evenly(&joins, most) {
                    let join = new_join(body, waiter);
                    for &(prerequisite, position) in group {
                        requires.push(Edge { waiter: join, prerequisite }, position);
                    }
                    above.push((join, group[0].1));
                }
                order.extend(above.iter().map(|&(join, _)| join));
                joins = above;
            }
            for (prerequisite, position) in joins {
                requires.push(Edge { waiter, prerequisite }, position);
            }
        }
        order.push(waiter);
    }
    let actions = body.len();
    (body.requires, body.debug.requires) = requires.finish(actions);
    (body.irequires, body.debug.irequires) = irequires.finish(actions);
    body.debug.order = None;
    permute(body, &order);
    true
}

/// A dependency of an action that has too many, by its index among the edges of its kind.
#[derive(Clone, Copy)]
enum Source {
    End(usize),
    Start(usize),
}

/// Divides the items into as few groups of at most `most` as possible, with sizes that differ by
/// one at most.
fn evenly<T>(items: &[T], most: usize) -> impl Iterator<Item = &[T]> {
    let groups = items.len().div_ceil(most);
    (0..groups)
        .map(move |group| &items[items.len() * group / groups..items.len() * (group + 1) / groups])
}

/// Adds a dummy without a label at the end of the body, with the place of `waiter` in the text.
fn new_join(body: &mut Body, waiter: ActionId) -> ActionId {
    let join = ActionId::new(body.actions.len());
    body.actions.push(Action::Nop);
    let debug = &mut body.debug;
    if let Some(&position) = debug.actions.get(waiter.index()) {
        debug.actions.push(position);
    }
    if let Some(&line) = debug.lines.get(waiter.index()) {
        debug.lines.push(line);
    }
    if !debug.labels.is_empty() {
        debug.labels.push("");
    }
    join
}
