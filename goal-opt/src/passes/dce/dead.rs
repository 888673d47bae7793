//! Local operations whose result nobody reads.

use super::is_removable;
use crate::edit::{Edges, Removal};
use crate::flow::{Fate, Flow, Outputs};
use goal_lang::{Action, ActionId, Body, Edge, Position, topological_order};

/// By action, whether it can be taken out: it does nothing but to write bytes that only such
/// actions read.
pub(super) fn find(body: &Body, flow: &Flow, outputs: &Outputs) -> Vec<bool> {
    let mut dead: Vec<bool> = body.actions.iter().map(is_removable).collect();
    for value in &flow.values {
        let counts = match value.fate {
            Fate::Overwritten(_) => false,
            Fate::Final => outputs.count(value.space, value.start, value.end),
        };
        if let Some(writer) = value.writer.filter(|_| counts || !value.is_certain) {
            dead[writer.index()] = false;
        }
    }
    let mut open: Vec<ActionId> = body.ids().filter(|id| !dead[id.index()]).collect();
    while let Some(id) = open.pop() {
        for writer in flow.read_by(id).filter_map(|value| value.writer) {
            if std::mem::take(&mut dead[writer.index()]) {
                open.push(writer);
            }
        }
    }
    dead
}

/// Takes actions out. Who waits for one of them waits for what it waited for; where that would take
/// more dependencies than before, a `nop` stays in its place.
pub(super) fn remove(body: &mut Body, dead: &[bool]) {
    if !dead.contains(&true) {
        return;
    }
    let mut removal = Removal::new(body);
    let (requires, irequires) =
        (body.requires.transposed(body.len()), body.irequires.transposed(body.len()));
    // By action that goes, what its waiters wait for instead.
    let mut instead: Vec<Vec<Before>> = vec![Vec::new(); body.len()];
    let order = topological_order(body).expect("a verified body has no cycle");
    let is_gone = |gone: &[bool], edge: &Edge| gone[edge.prerequisite.index()];
    for &id in order.iter().filter(|id| dead[id.index()]) {
        let mut befores: Vec<Before> = Vec::new();
        let ends = requires.row(id).iter().map(|&before| (before, false));
        for (before, is_start) in ends.chain(irequires.row(id).iter().map(|&before| (before, true)))
        {
            match removal.gone[before.index()] {
                true => befores.extend_from_slice(&instead[before.index()]),
                false => befores.push(Before { id: before, is_start }),
            }
        }
        befores.sort_unstable();
        befores.dedup();
        let waiters = body.requires.row(id).len() + body.irequires.row(id).len();
        if befores.len() * waiters <= befores.len() + waiters {
            removal.gone[id.index()] = true;
            instead[id.index()] = befores;
        } else {
            body.actions[id.index()] = Action::Nop;
        }
    }
    let mut added: Vec<(Edge, bool, Option<Position>)> = Vec::new();
    for edges in [&removal.requires, &removal.irequires] {
        for (i, edge) in
            edges.edges.iter().enumerate().filter(|(_, edge)| is_gone(&removal.gone, edge))
        {
            for before in &instead[edge.prerequisite.index()] {
                let edge = Edge { waiter: edge.waiter, prerequisite: before.id };
                added.push((edge, before.is_start, edges.positions.get(i).copied()));
            }
        }
    }
    for (edge, is_start, position) in added {
        let edges: &mut Edges =
            if is_start { &mut removal.irequires } else { &mut removal.requires };
        edges.push(edge, position);
    }
    removal.finish(body);
}

/// Something that an action waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Before {
    id: ActionId,
    /// Whether only its start.
    is_start: bool,
}
