//! Fusion: a receive or a send and the local operation beside it become one action (`RULES.md`,
//! fuse).

use crate::edit::Removal;
use crate::flow::{Fate, Flow, Order, Outputs};
use crate::pass::{Context, PassRefusal};
use goal_lang::{Action, ActionId, Body, Datatype, Edge, Op, Payload, Piece, Program};

/// The most rounds. After a fusion an operation ends together with its receive, which can allow
/// other fusions. Most of these are found in the same round.
const ROUNDS_MAX: usize = 8;

/// Turns `recv T; exec F with T B` into one receive that combines into B (a plain receive if F is a
/// copy), and `exec F with A B; send B` into one send that combines. It does so if the difference
/// can't be observed: no other action reads T, and no action waits for more than before.
///
/// # Errors
/// None: actions that cannot be fused stay.
pub(crate) fn fuse(program: &mut Program, context: &Context<'_>) -> Result<bool, PassRefusal> {
    let mut changed = false;
    let outputs = Outputs::from_bodies(program, context);
    for (body, outputs) in program.bodies.iter_mut().zip(&outputs) {
        changed |= fuse_body(body, outputs, context);
    }
    Ok(changed)
}

/// Two actions that become one, in the position of the message.
#[derive(Debug)]
struct Fusion {
    message: ActionId,
    exec: ActionId,
    /// The buffer that a receive no longer writes; `None` for a send.
    dropped: Option<Piece>,
}

/// Fuses until no two actions are left that can be fused. Returns true if it changed the body.
fn fuse_body(body: &mut Body, outputs: &Outputs, context: &Context<'_>) -> bool {
    for round in 0..ROUNDS_MAX {
        if !fuse_once(body, outputs, context) {
            return round > 0;
        }
    }
    context.note("fusions led to others too often: some messages and operations may stay apart");
    true
}

fn fuse_once(body: &mut Body, outputs: &Outputs, context: &Context<'_>) -> bool {
    let is_candidate = |id| {
        receive_candidates(body, id).next().is_some() || send_candidates(body, id).next().is_some()
    };
    if !body.ids().any(is_candidate) {
        return false;
    }
    let mut order = Order::new(body);
    let mut used = vec![false; body.len()];
    let mut fusions = receives(body, outputs, &mut order, &mut used, context);
    sends(body, &mut order, &mut used, &mut fusions);
    if order.is_exhausted {
        context.note(
            "the search for what is ordered was cut short: some messages and operations stay apart",
        );
    }
    if fusions.is_empty() {
        return false;
    }
    apply(body, &fusions);
    true
}

/// The operations that a receive into T could perform: `exec F with T B`.
fn receive_candidates(body: &Body, id: ActionId) -> impl Iterator<Item = Fusion> {
    let target = match *body.action(id) {
        Action::Recv { payload: Payload::Buffer(target), .. } => {
            Some(target).filter(|target| target.size > 0)
        }
        _ => None,
    };
    let waiters = target.map_or(&[][..], |_| body.requires.row(id)).iter();
    let takes = move |exec| operands(body, exec).is_some_and(|[a, b]| Some(a) == target && a != b);
    waiters.copied().filter(move |&exec| takes(exec)).map(move |exec| Fusion {
        message: id,
        exec,
        dropped: target,
    })
}

/// The sends that could perform an operation: `send B` after `exec F with A B`.
fn send_candidates(body: &Body, exec: ActionId) -> impl Iterator<Item = Fusion> {
    let result = match *body.action(exec) {
        Action::Exec { op, size, .. } if op != Op::Copy && size > 0 => {
            operands(body, exec).map(|[_, b]| b)
        }
        _ => None,
    };
    let waiters = result.map_or(&[][..], |_| body.requires.row(exec)).iter();
    let sends = move |id| matches!(*body.action(id), Action::Send { payload: Payload::Buffer(sent), .. } if Some(sent) == result);
    waiters.copied().filter(move |&id| sends(id)).map(move |message| Fusion {
        message,
        exec,
        dropped: None,
    })
}

/// The operands A and B of a contiguous operation without a third buffer.
fn operands(body: &Body, exec: ActionId) -> Option<[Piece; 2]> {
    match *body.action(exec) {
        Action::Exec { spaces, has_c: false, a, b, size, .. } => Some([
            Piece { addr: a, size, space: spaces[0] },
            Piece { addr: b, size, space: spaces[1] },
        ]),
        _ => None,
    }
}

/// Returns the fusions of a receive with an operation on its message. Marks the operations in
/// `used`.
fn receives(
    body: &Body,
    outputs: &Outputs,
    order: &mut Order<'_>,
    used: &mut [bool],
    context: &Context<'_>,
) -> Vec<Fusion> {
    let ids = order.ids().to_vec();
    let found: Vec<Fusion> = ids.into_iter().flat_map(|id| receive_candidates(body, id)).collect();
    // By operation, the receive that performs it.
    let mut performed = vec![None; body.len()];
    if !found.iter().any(|fusion| starts_as_early(order, fusion.exec, fusion.message, &performed)) {
        return Vec::new();
    }
    let Some(flow) = Flow::new(body, order) else {
        context
            .note("the search for what is read was cut short: receives and operations stay apart");
        return Vec::new();
    };
    let mut fusions = Vec::new();
    for fusion in found {
        let Fusion { message, exec, .. } = fusion;
        let unread = flow.written_by(message).all(|value| {
            let is_dead = match value.fate {
                Fate::Overwritten(_) => true,
                Fate::Final => !outputs.count(value.space, value.start, value.end),
            };
            value.is_certain && is_dead && flow.readers(value).iter().all(|&reader| reader == exec)
        });
        if unread
            && !used[exec.index()]
            && flow.written_by(exec).all(|value| value.is_certain)
            && starts_as_early(order, exec, message, &performed)
        {
            used[exec.index()] = true;
            performed[exec.index()] = Some(message);
            fusions.push(fusion);
        }
    }
    fusions
}

/// Adds the fusions of an operation with the send of its result. Marks both actions in `used`.
fn sends(body: &Body, order: &mut Order<'_>, used: &mut [bool], fusions: &mut Vec<Fusion>) {
    let none = vec![None; body.len()];
    for id in body.ids().filter(|id| !used[id.index()]).collect::<Vec<_>>() {
        // An action that waits for the operation must not start to wait for the message.
        let fits = |&Fusion { message, exec, .. }: &Fusion| {
            !used[message.index()]
                && body
                    .requires
                    .row(exec)
                    .iter()
                    .all(|&waiter| waiter == message || order.ends_before(message, waiter))
                && body
                    .irequires
                    .row(message)
                    .iter()
                    .all(|&waiter| order.ends_before(message, waiter))
                && starts_as_early(order, message, exec, &none)
        };
        if let Some(fusion) = send_candidates(body, id).find(fits) {
            (used[fusion.message.index()], used[fusion.exec.index()]) = (true, true);
            fusions.push(fusion);
        }
    }
}

/// Returns true if all prerequisites of `later` other than `earlier` are met when `earlier` starts.
/// `performed` has, by operation, the receive that performs it from now on: the operation then ends
/// with this receive.
fn starts_as_early(
    order: &mut Order<'_>,
    later: ActionId,
    earlier: ActionId,
    performed: &[Option<ActionId>],
) -> bool {
    let ends = order.requires(later).to_vec();
    let starts = order.irequires(later).to_vec();
    let is_performed = |order: &mut Order<'_>, before: ActionId| {
        performed[before.index()].is_some_and(|recv| order.ends_before(recv, earlier))
    };
    ends.into_iter().all(|before| {
        before == earlier || order.ends_before(before, earlier) || is_performed(order, before)
    }) && starts
        .into_iter()
        .all(|before| order.starts_before(before, earlier) || is_performed(order, before))
}

fn apply(body: &mut Body, fusions: &[Fusion]) {
    let mut removal = Removal::new(body);
    // By operation, the fusion with the receive or the send that performs it.
    let mut taken = vec![None; body.len()];
    for fusion in fusions {
        taken[fusion.exec.index()] = Some(fusion);
        removal.gone[fusion.exec.index()] = true;
        let action = fused(body, fusion);
        body.actions[fusion.message.index()] = action;
    }
    let of = |id: ActionId| taken[id.index()];
    let (mut starts, mut ends) = (removal.irequires, removal.requires);
    for (i, edge) in starts.edges.iter_mut().enumerate() {
        match of(edge.prerequisite) {
            // The operation started after the message had come. This moment is now the end of the
            // receive.
            Some(Fusion { message, exec, dropped: Some(_) }) => {
                let position = starts.positions.get(i).copied();
                ends.push(Edge { waiter: edge.waiter, prerequisite: *message }, position);
                edge.waiter = *exec;
            }
            Some(Fusion { message, dropped: None, .. }) => edge.prerequisite = *message,
            None => {}
        }
    }
    // A receive ends when the operation ended. An action that waits for a send's operation waits
    // for the send anyway.
    for edge in &mut ends.edges {
        if let Some(Fusion { message, dropped: Some(_), .. }) = of(edge.prerequisite) {
            edge.prerequisite = *message;
        }
    }
    // A send takes over the prerequisites of its operation. A receive needs none of its operation's
    // prerequisites: it already waited for them.
    for edge in starts.edges.iter_mut().chain(&mut ends.edges) {
        if let Some(Fusion { message, dropped: None, .. }) = of(edge.waiter) {
            edge.waiter = *message;
        }
    }
    (removal.irequires, removal.requires) = (starts, ends);
    removal.finish(body);
}

/// The fused action.
fn fused(body: &mut Body, fusion: &Fusion) -> Action {
    let Action::Exec { op, datatype, .. } = *body.action(fusion.exec) else {
        unreachable!("an operation")
    };
    let [a, b] = operands(body, fusion.exec).expect("an operation with two buffers");
    let first = body.pieces.len();
    match *body.action(fusion.message) {
        Action::Recv { from, tag, placement, .. } if op == Op::Copy => {
            Action::Recv { payload: Payload::Buffer(b), from, tag, placement }
        }
        Action::Recv { from, tag, placement, .. } => {
            body.pieces.push(b);
            Action::Recv { payload: reduced(op, datatype, first), from, tag, placement }
        }
        Action::Send { to, tag, placement, .. } => {
            body.pieces.extend([b, a]);
            Action::Send { payload: reduced(op, datatype, first), to, tag, placement }
        }
        _ => unreachable!("a message"),
    }
}

fn reduced(op: Op, datatype: Datatype, first: usize) -> Payload {
    let operands = u32::try_from(first).expect("fewer than 2^32 pieces");
    Payload::Reduced { op, datatype, operands }
}
