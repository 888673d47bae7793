//! Segmentation: a large message on a path of dependent forwards becomes a pipeline of segments
//! (paper V: in a pipelined chain broadcast "every node sends ⌈n/s⌉ fragments").

mod bytes;
mod cut;
mod path;
mod rewrite;
mod slice;

use super::levels::complete_run;
use crate::limits::SEGMENTS_MAX;
use crate::pass::{Context, PassRefusal};
use bytes::Facts;
use cut::{BORDER, Cut, Rule};
use goal_lang::{Action, Body, BodyId, Program};
use path::Paths;

/// Splits the actions on paths of at least two messages: the messages, both ends together, and the
/// local operations in between. On a path, each message sends bytes that the one before stored
/// (`RULES.md`, segment).
///
/// # Errors
/// If the requested size makes too many segments.
pub(crate) fn segment(program: &mut Program, context: &Context<'_>) -> Result<bool, PassRefusal> {
    let asked = context.arguments.number("size").map(|size| size.max(1).next_multiple_of(BORDER));
    let rule = Rule::new(context.machine);
    let least = asked.unwrap_or(rule.least);
    let facts = facts(program, least, context);
    if facts.iter().all(Option::is_none) {
        return Ok(false);
    }
    let groups = {
        let Some((whole, trace)) = complete_run(program, context) else { return Ok(false) };
        let paths = Paths::new(&whole, &trace, &facts, asked.is_none());
        paths.splits(|bytes, hops| {
            Cut::new(bytes, asked.unwrap_or_else(|| rule.segment(bytes, hops)), context.eager_limit)
        })
    };
    let segments: u64 = groups.iter().map(|group| group.segments * group.ranks.len() as u64).sum();
    if segments > SEGMENTS_MAX {
        let message = format!(
            "{segments} segments, and at most {SEGMENTS_MAX} are made: ask for a larger size"
        );
        if asked.is_some() {
            return Err(PassRefusal(message));
        }
        context.note(message);
        return Ok(false);
    }
    let mut users: Vec<usize> = vec![0; program.bodies.len()];
    program.ranks.iter().for_each(|entry| users[entry.body.index()] += 1);
    for group in &groups {
        let facts = facts[group.body.index()].as_ref().expect("what is split was looked at");
        let body = rewrite::apply(&program.bodies[group.body.index()], facts, &group.splits);
        users[group.body.index()] -= group.ranks.len();
        if users[group.body.index()] == 0 {
            program.bodies[group.body.index()] = body;
            continue;
        }
        // Other ranks with the same body are not split in the same way.
        let own = BodyId::new(program.bodies.len());
        program.bodies.push(body);
        group.ranks.iter().for_each(|&rank| program.ranks[rank as usize].body = own);
    }
    Ok(!groups.is_empty())
}

/// Returns, by body, the facts about its bytes. `None` if no message has more than `least` bytes or
/// a bound is reached.
fn facts(program: &Program, least: u64, context: &Context<'_>) -> Vec<Option<Facts>> {
    let is_large = |body: &Body, action: &Action| {
        slice::is_message(action) && slice::size(body, action) > least
    };
    let facts = |body: &Body| {
        if !body.actions.iter().any(|action| is_large(body, action)) {
            return None;
        }
        let facts = Facts::new(body);
        if facts.is_none() {
            context.note("the search for who reads what was cut short: some messages stay whole");
        }
        facts
    };
    program.bodies.iter().map(facts).collect()
}
