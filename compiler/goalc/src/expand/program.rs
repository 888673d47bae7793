//! Programs with messages in place of collective statements.

use super::algorithms::Algorithms;
use super::body::Expansion;
use super::expanded::{Expansions, Origin};
use super::plan::{ExpandError, Plan};
use goal_lang::{BodyId, Instances, Member, Program};

/// Replaces the collective statements of a program by messages. `instances` has the collectives of
/// this program. Returns what each of them became.
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
) -> Result<Expansions, ExpandError> {
    let plan = Plan::new(program, instances, algorithms)?;
    let expansion = Expansion::new(program, instances, &plan);
    let mut ranks = Vec::with_capacity(program.ranks.len());
    let mut bodies = Vec::new();
    let mut parts = Vec::with_capacity(program.ranks.len());
    for rank in 0..program.num_ranks() {
        let (body, of_rank) = match program.body_of(rank).collectives.is_empty() {
            true => (None, Vec::new()),
            false => expansion.body(rank).map(|(body, parts)| (Some(body), parts))?,
        };
        bodies.push(body);
        parts.push(of_rank);
    }
    let origins = origins(program, instances, &plan);
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
    Ok(Expansions { programs: plan.expanded, origins, parts })
}

/// Lists the collectives and the messages that statements name.
fn origins(program: &Program, instances: &Instances, plan: &Plan) -> Vec<Origin> {
    let origin = |member: Member, algorithm| {
        let stated = member.stated(program);
        let positions = &program.body_of(member.rank).debug.actions;
        let position = positions.get(stated.action.index()).copied();
        Origin { form: stated.form, position, algorithm }
    };
    let collectives = instances.collectives.iter().zip(&plan.collectives);
    let collectives =
        collectives.map(|(of, &(at, _))| origin(of.members[0], Some(plan.expanded[at].algorithm)));
    let messages = instances.messages.iter().map(|message| origin(message.sender, None));
    collectives.chain(messages).collect()
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
