//! Copy and dead-code elimination (`RULES.md`, dce).

mod copies;
mod dead;

use crate::flow::{Flow, Order, Outputs};
use crate::pass::{Context, Refusal};
use goal_lang::{Action, Body, Program};

/// Rounds after which chains of copies are left as they are; each round makes them half as long.
const ROUNDS_MAX: usize = 40;

/// Lets actions read a copy's source instead of the copy where the two hold the same, and takes out
/// local operations whose result nobody reads. What the memory holds at the end, as far as it
/// counts, stays.
///
/// # Errors
/// None: what cannot be taken out stays.
pub(crate) fn dce(program: &mut Program, context: &Context<'_>) -> Result<bool, Refusal> {
    let mut changed = false;
    let outputs = Outputs::of_bodies(program, context);
    for (body, outputs) in program.bodies.iter_mut().zip(&outputs) {
        changed |= eliminate(body, outputs, context);
    }
    Ok(changed)
}

fn eliminate(body: &mut Body, outputs: &Outputs, context: &Context<'_>) -> bool {
    let mut changed = false;
    for _ in 0..ROUNDS_MAX {
        if !body.actions.iter().any(is_removable) {
            break;
        }
        let mut order = Order::new(body);
        let Some(flow) = Flow::new(body, &mut order) else {
            context.note("the search for what is read was cut short: dead operations may be left");
            break;
        };
        let dead = dead::find(body, &flow, outputs);
        let forwarded = copies::find(body, &flow, outputs, &mut order, &dead);
        if order.is_exhausted {
            context
                .note("the search for what is ordered was cut short: dead operations may be left");
        }
        if forwarded.is_empty() && !dead.contains(&true) {
            break;
        }
        for (id, action) in forwarded {
            body.actions[id.index()] = action;
        }
        dead::remove(body, &dead);
        changed = true;
    }
    changed
}

/// Whether an action does nothing but to write its result.
fn is_removable(action: &Action) -> bool {
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
        | Action::Nop => false,
    }
}
