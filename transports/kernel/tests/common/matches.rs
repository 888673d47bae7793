//! The matching of a plan, as the interpreter takes it.

use goal_interp::{Matches, Taken};
use goal_kernel::{Message, Plan};
use goal_lang::ActionId;

/// Returns which receive takes which message.
pub fn matches(plan: &Plan) -> Matches {
    let mut matches = Matches::default();
    let vertex = |(rank, action): (u32, u32)| (rank, ActionId::new(action as usize));
    for Message { send, receive, sequence } in plan.messages() {
        matches.sends.insert(vertex(send), sequence);
        matches.receives.insert(vertex(receive), Taken { source: send.0, sequence });
    }
    matches
}
