//! The decision by the cost model whether a pass of `-O2` may change a program.
//!
//! Programs are compared in the form that they have at the end of the pipeline. The model starts
//! actions in the order of the layout, and the last passes make the layout.

use crate::cost::{CostError, predict};
use crate::machine::Machine;
use goal_lang::{Action, Body, Program};

/// The relative difference below which two predicted times count as equal. Sums of the same times
/// in another order differ by so little.
const ROUNDING: f64 = 1e-9;

/// The answer of the cost model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The last rank ends no later than before the pass.
    NotSlower,
    /// The last rank ends later than before the pass.
    Slower,
    /// The model has no prediction for the program before the pass.
    Unknown(CostError),
}

/// Compares programs by the time at which their last rank ends.
pub(super) struct Predictor {
    /// The machine of the pipeline, and the same machine with the eager limit of the runtime if the
    /// two may differ.
    machines: Vec<Machine>,
    /// By machine, the predicted time of the current program, if it was asked for already.
    current: Option<Times>,
}

/// By machine, the time at which the last rank ends, in nanoseconds.
type Times = Vec<Result<f64, CostError>>;

impl Predictor {
    /// Makes a predictor that has compared nothing yet. The runtime sends messages of up to
    /// `eager_limit` bytes at once.
    pub(super) fn new(program: &Program, machine: &Machine, eager_limit: u64) -> Self {
        let mut machines = vec![*machine];
        let runtime = Machine { eager_bytes_max: eager_limit, ..*machine };
        if may_differ(program, machine, &runtime) {
            machines.push(runtime);
        }
        Self { machines, current: None }
    }

    /// Compares the current program with the one after a pass. `finished` runs the passes to come.
    /// The program after the pass becomes the current one if it is not slower.
    pub(super) fn compare(
        &mut self,
        before: &Program,
        after: &Program,
        finished: impl Fn(&Program) -> Program,
    ) -> Verdict {
        let current = self.current.take().unwrap_or_else(|| self.times(&finished(before)));
        let mut verdict = match current[..] {
            [Err(error)] | [Err(error), Err(_)] => Verdict::Unknown(error),
            _ => Verdict::NotSlower,
        };
        if verdict == Verdict::NotSlower {
            let times = self.times(&finished(after));
            let is_slower = current.iter().zip(&times).any(|(before, after)| {
                let Ok(before) = before else { return false };
                after.is_err() || after.is_ok_and(|after| after > before * (1.0 + ROUNDING))
            });
            if !is_slower {
                self.current = Some(times);
                return verdict;
            }
            verdict = Verdict::Slower;
        }
        self.current = Some(current);
        verdict
    }

    fn times(&self, program: &Program) -> Times {
        let time = |machine| predict(program, machine).map(|times| times.makespan_ns());
        self.machines.iter().map(time).collect()
    }
}

/// Returns true if some message, or a part of it, could wait for its receive on one of two machines
/// and not on the other.
fn may_differ(program: &Program, a: &Machine, b: &Machine) -> bool {
    let least = a.eager_bytes_max.min(b.eager_bytes_max);
    let waits = |body: &Body, action: &Action| match *action {
        Action::Send { payload, .. } => body.payload_size(payload) > least,
        _ => false,
    };
    a.eager_bytes_max != b.eager_bytes_max
        && program.bodies.iter().any(|body| body.actions.iter().any(|action| waits(body, action)))
}
