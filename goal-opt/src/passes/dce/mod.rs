//! Copy and dead-code elimination (`RULES.md`, dce).

mod copies;
mod dead;

use crate::flow::{Flow, Order, Outputs};
use crate::pass::{Context, PassRefusal};
use dead::is_removable;
use goal_lang::{Body, Program};

/// Bound on the rounds; each halves the length of chains of copies.
const ROUNDS_MAX: usize = 40;

/// Makes actions read a copy's source instead of the copy if both have the same content, and
/// removes local operations whose result no action reads. The outputs of the program stay the same.
///
/// # Errors
/// None: actions that cannot be removed stay.
pub(crate) fn dce(program: &mut Program, context: &Context<'_>) -> Result<bool, PassRefusal> {
    let mut changed = false;
    let outputs = Outputs::from_bodies(program, context);
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
