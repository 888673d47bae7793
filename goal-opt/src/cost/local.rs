//! The time of local actions.

use crate::machine::Machine;
use goal_lang::{Action, Body};

/// The processor time of a local action, in nanoseconds.
pub(super) fn local_ns(body: &Body, action: &Action, machine: &Machine) -> f64 {
    match *action {
        Action::Calc { nanos, .. } => nanos as f64,
        _ => match body.local_operation(action) {
            Some(local) => local.a.size() as f64 * machine.gap_per_byte_ns,
            None => 0.0,
        },
    }
}
