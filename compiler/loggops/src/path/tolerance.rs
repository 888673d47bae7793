//! How much larger a parameter of the machine may become before a run is slower by some percent.
//!
//! Queues may let a run become faster as a parameter grows, so the time is no convex function of
//! it, and no linear program has the answer. The model runs again instead, with parameters that
//! close in on the largest one.

use crate::machine::{Machine, Parameter, VALUE_END};
use crate::model::simulate;
use crate::workload::{Kind, Workload};

/// The difference between a tolerance and the next larger value: 1 ns, and 10^-6 ns for a byte.
const STEP: u64 = 1000;

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

/// The largest value of a parameter with which a run is not slower than by some percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tolerance {
    /// The percent of the run's time.
    pub percent: u32,
    /// The value, in the unit of the parameter. The run is slower with 1 ns more, or with 10^-6 ns
    /// more of `G`. `None` if no value slows the run so much.
    pub value: Option<u64>,
}

/// Returns for each percentage how large a parameter may become. `finish_ps` is the time of the run
/// on the machine, and `units` the number of times that its critical path has the parameter.
///
/// The percentages ascend. A run that gets stuck counts as slower.
pub fn tolerances(
    workload: &Workload,
    machine: &Machine,
    parameter: Parameter,
    finish_ps: u64,
    units: u64,
    percents: &[u32],
) -> Vec<Tolerance> {
    if !has_effect(parameter, workload) {
        return percents.iter().map(|&percent| Tolerance { percent, value: None }).collect();
    }
    let base = parameter.value(machine);
    let value = |steps: u64| base.saturating_add(steps.saturating_mul(STEP));
    let run = |steps| match simulate(workload, &parameter.with(machine, value(steps))) {
        Ok(times) => times.finish_ps.into_iter().max().unwrap_or(0),
        Err(_) => u64::MAX,
    };
    let mut search = Search { run, lower: Run { steps: 0, finish: finish_ps }, upper: None };
    let steps_max = VALUE_END.saturating_sub(base) / STEP;
    let tolerance = |&percent: &u32| {
        let more = u128::from(finish_ps) * u128::from(percent) / 100;
        let target = finish_ps.saturating_add(u64::try_from(more).unwrap_or(u64::MAX));
        let guess = guess(parameter, target - finish_ps, units).saturating_add(1);
        let steps = search.last_within(target, guess, steps_max);
        Tolerance { percent, value: steps.map(value) }
    };
    percents.iter().map(tolerance).collect()
}

/// A run with a parameter that is larger by some steps.
#[derive(Debug, Clone, Copy)]
struct Run {
    steps: u64,
    /// `u64::MAX` for a run that has no times.
    finish: u64,
}

/// Two runs: one within the time that is looked for, and one that is not.
struct Search<F> {
    run: F,
    lower: Run,
    upper: Option<Run>,
}

impl<F: Fn(u64) -> u64> Search<F> {
    /// Returns the number of steps of a run within `target` whose successor is slower. `None` if
    /// the run with `steps_max` is not slower.
    fn last_within(&mut self, target: u64, guess: u64, steps_max: u64) -> Option<u64> {
        // A run that was too slow for less may be fast enough now.
        if let Some(run) = self.upper.take_if(|run| run.finish <= target) {
            self.lower = run;
        }
        let mut next = guess.max(self.lower.steps.saturating_add(1));
        let mut upper = loop {
            if let Some(upper) = self.upper {
                break upper;
            }
            if self.lower.steps >= steps_max {
                return None;
            }
            let run = self.at(next.min(steps_max));
            next = run.steps.saturating_mul(2);
            if run.finish > target {
                self.upper = Some(run);
            } else {
                self.lower = run;
            }
        };
        let mut turn = 0;
        while upper.steps - self.lower.steps > 1 {
            let run = self.at(self.between(upper, target, turn % 3 == 2));
            if run.finish > target {
                upper = run;
            } else {
                self.lower = run;
            }
            turn += 1;
        }
        self.upper = Some(upper);
        Some(self.lower.steps)
    }

    fn at(&self, steps: u64) -> Run {
        Run { steps, finish: (self.run)(steps) }
    }

    /// Returns the steps of the next run between the two: where the line through both has `target`,
    /// or the middle.
    fn between(&self, upper: Run, target: u64, in_the_middle: bool) -> u64 {
        let (lower, span) = (self.lower, upper.steps - self.lower.steps);
        if in_the_middle || upper.finish == u64::MAX {
            return lower.steps + span / 2;
        }
        let (more, all) = (target - lower.finish, upper.finish - lower.finish);
        let steps = u128::from(span) * u128::from(more) / u128::from(all);
        lower.steps + (steps as u64).clamp(1, span - 1)
    }
}
