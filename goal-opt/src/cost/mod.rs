//! A small cost model that predicts when each rank of a program ends on a LogGOPS machine (Hoefler,
//! Schneider, Lumsdaine: LogGOPSim, 2010).
//!
//! It simulates events in the order of time and charges them as LogGOPSim does, without noise and
//! congestion in the network. A message of n bytes takes:
//!
//! - `o + (n - 1) O` of the sending processor,
//! - `g + (n - 1) G` of the interface at both ends,
//! - `o + L` to arrive,
//! - `o + (n - 1) max(O, G)` of the receiving processor.
//!
//! A send of more than `S` bytes ends when its receive takes the message. LogGOPS does not define
//! local operations. The model charges them `G` a byte, and nothing for a stored time or a dummy.
//!
//! If ranks are seldom busy when messages arrive, as in most schedules of collectives, the times
//! are LogGOPSim's to the nanosecond (`tests/cost/`). If many operations compete for a processor,
//! or sends wait for receives, they may differ, as LogGOPSim takes such operations in another
//! order.

mod chains;
mod lanes;
mod local;
mod simulation;
#[cfg(test)]
mod tests;

pub use chains::{Chain, Chains, longest_chains};
pub use simulation::{CostError, Prediction};

use crate::machine::Machine;
use crate::whole::{Run, Whole};
use goal_lang::Program;
use simulation::Simulation;

/// Predicts when each rank ends. Receives take the messages that they take in an abstract run. If
/// wildcards or missing orders leave this open, the prediction is for one of the possible runs.
/// Linear in actions and edges, but for the logarithm of the queue of events.
///
/// # Errors
/// If the program has too many actions or does not end.
pub fn predict(program: &Program, machine: &Machine) -> Result<Prediction, CostError> {
    let whole = Whole::new(program)?;
    let trace = Run::new(&whole).finish(u64::MAX);
    Simulation::new(&whole, &trace, machine).run()
}
