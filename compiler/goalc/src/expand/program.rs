//! Programs with messages in place of collective statements.

use super::algorithms::Algorithms;
use super::body::Expansion;
use super::expanded::Expanded;
use super::plan::{ExpandError, Plan};
use goal_lang::{BodyId, Instances, Program};

/// Replaces the collective statements of a program by messages. `instances` has the collectives of
/// this program. Returns the algorithms that were used.
///
/// A statement becomes a dummy before its messages and a dummy behind them. Whatever the statement
/// waits for, the first dummy waits for. Whatever waits for the statement waits for the second one.
/// All tags lie above those of the program, and each collective has tags of its own.
///
/// # Errors
/// Returns an error if a collective can't be expanded. The program is unchanged then.
pub fn expand(
    program: &mut Program,
    instances: &Instances,
    algorithms: &Algorithms,
) -> Result<Vec<Expanded>, ExpandError> {
    let plan = Plan::new(program, instances, algorithms)?;
    let expansion = Expansion::new(program, instances, &plan);
    let mut ranks = Vec::with_capacity(program.ranks.len());
    let mut bodies = Vec::new();
    for rank in 0..program.num_ranks() {
        bodies.push(match program.body_of(rank).collectives.is_empty() {
            true => None,
            false => Some(expansion.body(rank)?),
        });
    }
    for (entry, body) in program.ranks.iter().zip(bodies) {
        let mut entry = *entry;
        if let Some(body) = body {
            entry.body = BodyId::new(program.bodies.len());
            program.bodies.push(body);
        }
        ranks.push(entry);
    }
    program.ranks = ranks;
    drop_unused_bodies(program);
    Ok(plan.expanded)
}

/// Removes the bodies that no rank runs.
fn drop_unused_bodies(program: &mut Program) {
    let mut places = vec![None; program.bodies.len()];
    let mut kept = Vec::new();
    for entry in &mut program.ranks {
        let old = entry.body.index();
        let new = *places[old].get_or_insert_with(|| {
            kept.push(std::mem::take(&mut program.bodies[old]));
            BodyId::new(kept.len() - 1)
        });
        entry.body = new;
    }
    program.bodies = kept;
}
