//! Local operations whose result no action reads.

use crate::edit::{Edges, Removal};
use crate::flow::{Fate, Flow, Outputs};
use goal_lang::{Action, ActionId, Body, Edge, Position, topological_order};

/// Returns, by action, true if it can be removed. Such an action only writes bytes that no output
/// needs, and only actions that can be removed read these bytes.
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

/// Removes the actions that are true in `dead`. An action that waited for a removed action then
/// waits for the prerequisites of the removed action. If that took more dependencies than before, a
/// `nop` replaces the dead action.
pub(super) fn remove(body: &mut Body, dead: &[bool]) {
    if !dead.contains(&true) {
        return;
    }
    let mut removal = Removal::new(body);
    let (requires, irequires) =
        (body.requires.transposed(body.len()), body.irequires.transposed(body.len()));
    // By removed action, the prerequisites that its waiters wait for instead.
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

/// A prerequisite of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Before {
    id: ActionId,
    /// True if the waiter only waits for its start.
    is_start: bool,
}

/// Returns true if an action has no effect but to write its result.
pub(super) fn is_removable(action: &Action) -> bool {
    match *action {
        // Division by zero is an error of the run.
        Action::Exec { op, datatype, .. } | Action::ExecVector { op, datatype, .. } => {
            op != goal_lang::Op::Div || datatype.is_float()
        }
        Action::Wtime { .. } => true,
        Action::Send { .. }
        | Action::Recv { .. }
        | Action::Calc { .. }
        | Action::User { .. }
        | Action::Nop
        | Action::Marker { .. } => false,
    }
}
