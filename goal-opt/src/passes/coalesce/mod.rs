//! Coalescing: small messages between the same two ranks that become ready together become one send
//! and one receive of a vector.

mod bundles;
mod merge;
mod open;
mod readiness;
#[cfg(test)]
mod tests;

use super::levels::{LevelMessage, complete_run, free_messages};
use crate::machine::Machine;
use crate::pass::{Context, PassRefusal};
use crate::whole::{Vertex, Whole, unique_partners};
use goal_lang::Program;
use open::Open;
use readiness::Readiness;

/// Merges small messages whose sends wait for the same actions and whose receives wait for the same
/// actions. A merged message has the tag of the first one. It has at most `size` bytes, and never
/// more than the runtime or the machine sends without a posted receive.
///
/// # Errors
/// None: messages that cannot be merged stay.
pub(crate) fn coalesce(program: &mut Program, context: &Context<'_>) -> Result<bool, PassRefusal> {
    let size = context.arguments.number("size").unwrap_or_else(|| default_size(context.machine));
    let size = size.min(context.eager_limit).min(context.machine.eager_bytes_max);
    let plan = {
        let Some((whole, trace)) = complete_run(program, context) else { return Ok(false) };
        let mut readiness = Readiness::new(program);
        let mut partner = unique_partners(&whole, &trace);
        let mut open = Open::pair(&whole, &mut readiness, &mut partner, context);
        let messages = messages(&whole, &mut partner, &mut open);
        bundles::plan(&whole, messages, &partner, &open, &mut readiness, size)
    };
    Ok(merge::apply(program, plan))
}

/// Returns the default of `size`: the number of bytes that take as long on the wire as an empty
/// message takes in all, `(2o + L) / (G + 2O)`. So a message that waits for the others of its
/// bundle takes at most twice as long.
fn default_size(machine: &Machine) -> u64 {
    let per_byte = machine.gap_per_byte_ns + 2.0 * machine.overhead_per_byte_ns;
    if per_byte > 0.0 { (machine.message_ns(1) / per_byte) as u64 } else { u64::MAX }
}

/// Returns the messages that may be merged with others of their level. Of a channel whose matches
/// only the layout decides, either all messages are among them or none.
fn messages(whole: &Whole<'_>, partner: &mut [Vertex], open: &mut Open) -> Vec<LevelMessage> {
    let mut messages = free_messages(whole, partner);
    let mut is_free = vec![false; whole.len()];
    messages.iter().for_each(|message| is_free[message.send.index()] = true);
    if open.drop_unless(partner, |send| is_free[send.index()]) {
        messages = free_messages(whole, partner);
        is_free.fill(false);
        messages.iter().for_each(|message| is_free[message.send.index()] = true);
        if open.drop_unless(partner, |send| is_free[send.index()]) {
            open.drop_unless(partner, |_| false);
            messages = free_messages(whole, partner);
        }
    }
    messages
}
