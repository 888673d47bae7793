//! A small cost model: when each rank of a program ends on a LogGOPS machine (Hoefler, Schneider,
//! Lumsdaine: LogGOPSim, 2010).
//!
//! Events in the order of time, charged as LogGOPSim does, without noise and without congestion in
//! the network: a message costs the processor `o + (n - 1) O` where it is sent, the interface `g +
//! (n - 1) G` at both ends, is there after `o + L`, and costs the processor that it arrives at `o +
//! (n - 1) max(O, G)`. A send of more than `S` bytes ends when its receive meets it. What LogGOPS
//! says nothing about is charged so: a local operation costs the processor `G` a byte, a stored
//! time and a dummy nothing.
//!
//! Where ranks are seldom busy when messages come in, as in most schedules of collectives, the
//! times are LogGOPSim's to the nanosecond (`tests/cost/`). Where many operations compete for a
//! processor, or sends wait for receives, they may differ: LogGOPSim takes such operations in
//! another order.

mod lanes;
mod simulation;
#[cfg(test)]
mod tests;

use crate::machine::Machine;
use crate::whole::{Run, TooLarge, Whole};
use goal_lang::Program;
use simulation::Simulation;

/// What a program costs on a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// By rank, when the last of its processors is free for good, in nanoseconds after the start of
    /// all.
    pub finish_ns: Vec<f64>,
}

impl Prediction {
    /// When the last rank ends, in nanoseconds.
    pub fn makespan_ns(&self) -> f64 {
        self.finish_ns.iter().copied().fold(0.0, f64::max)
    }
}

/// Why there is no prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CostError {
    /// More actions than can be numbered.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// The program does not end on this machine.
    #[error(
        "{0} actions never end on this machine, on which sends of more than {1} bytes wait for their receives"
    )]
    Stuck(u64, u64),
}

/// Predicts when each rank ends. Messages meet the receives that they meet in an abstract run, so
/// where wildcards or missing orders leave that open this is one of the possible runs. Linear in
/// actions and edges, but for the logarithm of the queue of events.
///
/// # Errors
/// Where the program has too many actions, or does not end.
pub fn predict(program: &Program, machine: &Machine) -> Result<Prediction, CostError> {
    let whole = Whole::new(program)?;
    let trace = Run::new(&whole).finish(u64::MAX);
    Simulation::new(&whole, &trace, machine).run()
}
