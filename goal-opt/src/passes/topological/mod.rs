//! Pre-scheduling (paper III: actions "will be pre-scheduled ... by running a topological sort").
//!
//! An engine starts ready actions in the order of the layout, so the layout is a schedule. This
//! pass uses list scheduling by upward rank (Topcuoglu, Hariri, Wu: HEFT, 2002). The longer the
//! work after an action takes by the machine model, on all ranks, the earlier the action comes. So
//! a send that others wait for comes before one that is not needed soon.

mod ends;
mod order;
mod priority;
#[cfg(test)]
mod tests;

use crate::bodies::of_bodies;
use crate::edit::permute;
use crate::machine::Machine;
use crate::text_order::first_to_last;
use goal_lang::{ActionId, Body, Csr, Program};
use priority::Priorities;

/// Lays out the actions of every rank so that each comes after its prerequisites. Of several that
/// may be next, the one on the longest path to the end of the program is first, then the first of
/// the text. Sends whose messages could be taken for each other, and receives that could take each
/// other's message, keep their order. Returns false if nothing changed.
///
/// Linear but for sorting; the order does not depend on threads, and laying out again changes
/// nothing.
///
/// # Panics
/// If a graph has a cycle, which the verifier refuses.
pub fn topological(program: &mut Program, machine: &Machine) -> bool {
    let moved = of_bodies(&mut program.bodies, |_, body| forward(body));
    let priorities = Priorities::new(program, machine);
    let sorted = of_bodies(&mut program.bodies, |index, body| {
        let key = priorities.of_body(index);
        if key.is_sorted_by(|a, b| a >= b) {
            return false;
        }
        let mut order: Vec<ActionId> = body.ids().collect();
        order.sort_by(|a, b| key[b.index()].total_cmp(&key[a.index()]));
        permute(body, &order);
        true
    });
    moved.contains(&true) || sorted.contains(&true)
}

/// Puts each action after its prerequisites; of several that may be next, the first of the text. So
/// a body in topological order stays as it is. Returns false if nothing changed.
fn forward(body: &mut Body) -> bool {
    let forward = |csr: &Csr| csr.edges().all(|edge| edge.prerequisite < edge.waiter);
    if forward(&body.requires) && forward(&body.irequires) {
        return false;
    }
    let order = first_to_last(body);
    assert_eq!(order.len(), body.len(), "a cycle");
    permute(body, &order);
    true
}
