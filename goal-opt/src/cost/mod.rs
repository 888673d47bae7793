//! A small cost model that predicts when each rank of a program ends on a LogGOPS machine (Hoefler,
//! Schneider, Lumsdaine: LogGOPSim, 2010).
//!
//! It simulates events in the order of time and charges them as LogGOPSim does, without noise and
//! congestion in the network. A message of n bytes takes `o + (n - 1) O` of the sending processor
//! and `g + (n - 1) G` of the interface at both ends, arrives after `o + L`, and takes `o + (n - 1)
//! max(O, G)` of the receiving processor. A send of more than `S` bytes ends when its receive takes
//! the message. LogGOPS does not define local operations: they take `G` a byte; a stored time and a
//! dummy take none.
//!
//! If ranks are seldom busy when messages arrive, as in most schedules of collectives, the times
//! are LogGOPSim's to the nanosecond (`tests/cost/`). If many operations compete for a processor,
//! or sends wait for receives, they may differ, as LogGOPSim takes such operations in another
//! order.

mod lanes;
mod simulation;
#[cfg(test)]
mod tests;

use crate::machine::Machine;
use crate::whole::{Run, TooLarge, Whole};
use goal_lang::Program;
use simulation::Simulation;

/// The predicted times of a program on a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// By rank, the time at which its last processor finishes, in nanoseconds after the start of
    /// all ranks.
    pub finish_ns: Vec<f64>,
}

impl Prediction {
    /// The time at which the last rank ends, in nanoseconds.
    pub fn makespan_ns(&self) -> f64 {
        self.finish_ns.iter().copied().fold(0.0, f64::max)
    }
}

/// The reason why there is no prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CostError {
    /// The program has too many actions.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// The program does not end on this machine.
    #[error(
        "{0} actions never end on this machine, on which sends of more than {1} bytes wait for their receives"
    )]
    Stuck(u64, u64),
}

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
