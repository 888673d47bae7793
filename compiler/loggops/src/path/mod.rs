//! Explains the time of a run in the default model. It finds the critical path, the share of each
//! parameter of the machine, and how large a parameter may become.
//!
//! # Layers
//! `step` has the parts of a path. `pieces` divides the time of a job by kinds of cost. `record`
//! keeps the reason of every event while the model runs. `walk` follows the reasons from the last
//! end of a run back to time 0. `totals` and `sensitivity` add up what the path has. `tolerance`
//! runs the model again with larger parameters.

mod pieces;
mod record;
mod sensitivity;
mod step;
#[cfg(test)]
mod tests;
mod tolerance;
mod totals;
mod walk;

pub use sensitivity::Sensitivity;
pub use step::{Cost, Path, Step, Work};
pub use tolerance::tolerance;
pub use totals::{OfCost, OfPair, OfRank, Totals};

use crate::machine::Machine;
use crate::model::{ModelError, Times, simulate_with};
use crate::workload::Workload;
use record::Recorder;

/// Simulates a program, and finds its critical path. This takes 32 bytes an action more than
/// [`simulate`](crate::model::simulate).
///
/// # Errors
/// If some actions never end, or a time is too large.
pub fn critical_path(workload: &Workload, machine: &Machine) -> Result<(Times, Path), ModelError> {
    let mut recorder = Recorder::new(workload, machine);
    let times = simulate_with(workload, machine, &(), &mut recorder)?;
    Ok((times, walk::back(&recorder)))
}
