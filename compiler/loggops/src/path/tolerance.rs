//! Computes how far a parameter of the machine may grow until a run is slower by some percent.
//!
//! Queues may let a run become faster as a parameter grows. So the time is not a convex function of
//! the parameter, and a linear program can't compute the answer. Instead the model runs again, with
//! parameters that close in on the largest one.

use crate::machine::{Machine, Parameter, VALUE_END};
use crate::symmetry::Prepared;
use crate::workload::{Kind, Workload};

/// The difference between a tolerance and the next larger value: 1 ns, and 10^-6 ns for a byte.
const STEP: u64 = 1000;

/// The runs that may leave a span above its half.
const TURNS_MAX: u32 = 2;

/// Returns true if some action takes longer with a larger value.
fn has_effect(parameter: Parameter, workload: &Workload) -> bool {
    let size_min = match parameter {
        Parameter::Latency | Parameter::Overhead | Parameter::Gap => 0,
        Parameter::GapPerByte | Parameter::OverheadPerByte => 2,
        Parameter::EagerBytes => return false,
    };
    (0..workload.len() as u32).any(|action| {
        let record = workload.record(action);
        record.kind == Kind::Send && record.size >= size_min
    })
}

/// Returns the number of steps that a parameter may grow by if the time grows by `more`
/// picoseconds, with `units` of the parameter on the critical path.
fn guess(parameter: Parameter, more: u64, units: u64) -> u64 {
    let (times, per_step) = match parameter {
        // A byte takes a thousandth of a picosecond more.
        Parameter::GapPerByte | Parameter::OverheadPerByte => (1000, 1),
        _ => (1, 1000),
    };
    let steps = u128::from(more) * times / (u128::from(units.max(1)) * per_step);
    u64::try_from(steps).unwrap_or(u64::MAX)
}

/// Returns a value of a parameter with which a run is slower by at most some percent. With 1 ns
/// more, or 10^-6 ns more a byte, it is slower than that. `None` if no value slows the run so much.
///
/// `finish_ps` is the time of the run on the machine, and `units` the number of times that its
/// critical path has the parameter. A run that gets stuck counts as slower.
pub fn tolerance(
    program: &Prepared<'_>,
    machine: &Machine,
    parameter: Parameter,
    [finish_ps, units]: [u64; 2],
    percent: u32,
) -> Option<u64> {
    if !has_effect(parameter, program.workload()) {
        return None;
    }
    let base = parameter.value(machine);
    let value = |steps: u64| base.saturating_add(steps.saturating_mul(STEP));
    let finish = |steps| match program.simulate(&parameter.with(machine, value(steps))) {
        Ok((times, _)) => times.finish_ps.into_iter().max().unwrap_or(0),
        Err(_) => u64::MAX,
    };
    let more = u128::from(finish_ps) * u128::from(percent) / 100;
    let target = finish_ps.saturating_add(u64::try_from(more).unwrap_or(u64::MAX));
    let search = Search { finish, target };
    let guess = guess(parameter, target - finish_ps, units).saturating_add(1);
    let steps_max = VALUE_END.saturating_sub(base) / STEP;
    let around = search.surround(Run { steps: 0, finish: finish_ps }, guess, steps_max)?;
    Some(value(search.close_in(around)))
}

/// A run with a parameter that is larger by some steps.
#[derive(Debug, Clone, Copy)]
struct Run {
    steps: u64,
    /// `u64::MAX` for a run that has no times.
    finish: u64,
}

/// The search for a run within a time whose successor is slower.
struct Search<F> {
    finish: F,
    target: u64,
}

impl<F: Fn(u64) -> u64> Search<F> {
    fn run(&self, steps: u64) -> Run {
        Run { steps, finish: (self.finish)(steps) }
    }

    /// Returns a run within the time and a later one that is slower. `None` if the run with
    /// `steps_max` is not slower.
    fn surround(&self, mut lower: Run, guess: u64, steps_max: u64) -> Option<[Run; 2]> {
        let (mut next, mut factor) = (guess, 1_u64);
        while lower.steps < steps_max {
            let run = self.run(next.clamp(lower.steps + 1, steps_max));
            if run.finish > self.target {
                return Some([lower, run]);
            }
            // The line through both runs has the time there. Each turn goes further.
            let span = run.steps - lower.steps;
            let ahead = match run.finish.saturating_sub(lower.finish) {
                0 => u128::from(span),
                more => u128::from(span) * u128::from(self.target - run.finish) / u128::from(more),
            };
            let ahead = u64::try_from(ahead).unwrap_or(u64::MAX).saturating_add(1);
            next = run.steps.saturating_add(ahead.saturating_mul(factor));
            (lower, factor) = (run, factor.saturating_mul(2));
        }
        None
    }

    /// Returns the steps of a run within the time whose successor is slower. It lies between
    /// two runs. Only the first one is within the time.
    ///
    /// The next run is where a line through both has the time. If one of them stays, its distance
    /// from the time counts half (Illinois). Halving the span bounds the number of runs.
    fn close_in(&self, [mut lower, mut upper]: [Run; 2]) -> u64 {
        let below = |run: Run| (self.target - run.finish) as f64 + 0.5;
        let above = |run: Run| (run.finish - self.target) as f64;
        let mut distances = [below(lower), above(upper)];
        let (mut was_within, mut turns, mut half) = (None, 0, upper.steps - lower.steps);
        while upper.steps - lower.steps > 1 {
            let span = upper.steps - lower.steps;
            if span <= half / 2 {
                (half, turns) = (span, 0);
            }
            let is_stalled = turns >= TURNS_MAX || upper.finish == u64::MAX;
            let part = distances[0] / (distances[0] + distances[1]);
            let at = if is_stalled { span / 2 } else { (span as f64 * part) as u64 };
            let run = self.run(lower.steps + at.clamp(1, span - 1));
            turns = if is_stalled { 0 } else { turns + 1 };
            let is_within = run.finish <= self.target;
            let again = was_within.replace(is_within) == Some(is_within);
            if is_within {
                (lower, distances[0]) = (run, below(run));
            } else {
                (upper, distances[1]) = (run, above(run));
            }
            if again {
                distances[usize::from(is_within)] /= 2.0;
            }
        }
        lower.steps
    }
}
