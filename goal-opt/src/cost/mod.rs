//! A cost model that predicts when each rank of a program ends on a LogGOPS machine: the default
//! model of the simulator ([`goal_loggops::model`]).
//!
//! LogGOPS does not define local operations. The model charges them `G` a byte, and nothing for a
//! stored time or a dummy.

mod chains;
mod local;
#[cfg(test)]
mod tests;

pub use chains::{Chain, Chains, longest_chains};

use crate::machine::Machine;
use crate::whole::TooLarge;
use goal_lang::Program;
use goal_loggops::Workload;
use goal_loggops::model::{ModelError, Times, simulate};

/// The predicted times of a program on a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// By rank, the time at which its last action ends, in nanoseconds after the start of all
    /// ranks.
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
    /// The model has no times for the program.
    #[error(transparent)]
    Model(ModelError),
}

/// Predicts when each rank ends.
///
/// # Errors
/// If the program has too many actions, does not end, or has messages whose receives state another
/// size.
pub fn predict(program: &Program, machine: &Machine) -> Result<Prediction, CostError> {
    let local_ps = |body: &_, action: &_| picos(local::local_ns(body, action, machine));
    let workload = Workload::new(program, local_ps).map_err(|error| TooLarge(error.actions))?;
    match simulate(&workload, &machine.exact()) {
        Ok(Times { finish_ps, .. }) => {
            let finish_ns = finish_ps.into_iter().map(|ps| ps as f64 / 1000.0).collect();
            Ok(Prediction { finish_ns })
        }
        Err(ModelError::Stuck { left, .. }) => Err(CostError::Stuck(left, machine.eager_bytes_max)),
        Err(error) => Err(CostError::Model(error)),
    }
}

/// Returns nanoseconds as picoseconds.
fn picos(nanos: f64) -> u64 {
    (nanos * 1000.0).round() as u64
}
