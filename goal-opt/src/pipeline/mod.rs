//! Defines pipelines, the passes in their order, and the function that runs them.

mod prediction;
mod spec;
#[cfg(test)]
mod tests;

pub use spec::{Invocation, SpecError};

use crate::bodies::of_bodies;
use crate::machine::Machine;
use crate::pass::{Arguments, Context, Level, Pass, PassRefusal, Rewrite};
use crate::passes::PASSES;
use crate::verify::{Faults, verify};
use goal_lang::limits::EAGER_LIMIT;
use goal_lang::{Body, Program};
use prediction::{Predictor, Verdict};
use std::time::{Duration, Instant};

/// A list of passes and their common settings.
#[derive(Debug, Clone)]
pub struct Pipeline {
    /// The passes, in the order in which they run.
    pub passes: Vec<Invocation>,
    /// If true, the verifier runs before the first pass and after each.
    pub verify: bool,
    /// If true, a pass of `-O2` changes a program only if the cost model predicts no later end on
    /// the machine. Pipelines of a level ask the model, and lists of passes do not.
    pub asks_cost_model: bool,
    /// The machine that the schedule is meant for.
    pub machine: Machine,
    /// The largest message in bytes that a send hands over before its receive is posted.
    pub eager_limit: u64,
}

impl Pipeline {
    /// The pipeline of a level.
    pub fn new(level: Level) -> Self {
        let passes = PASSES.iter().filter(|pass| pass.level.is_some_and(|least| least <= level));
        let passes =
            passes.map(|pass| Invocation { pass, arguments: Arguments::new(pass.parameters) });
        Self { asks_cost_model: true, ..Self::from_passes(passes.collect()) }
    }

    /// The pipeline of a list such as `a,b(c=4)`. Passes that the binary form needs are added at
    /// the end.
    ///
    /// # Errors
    /// The first entry that is no pass, no parameter or no valid value.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let mut passes = spec::parse(text)?;
        for needed in Self::new(Level::O0).passes {
            if passes.last().is_none_or(|last| last.pass.name != needed.pass.name) {
                passes.push(needed);
            }
        }
        Ok(Self::from_passes(passes))
    }

    /// A pipeline without passes, which only verifies the program.
    pub fn empty() -> Self {
        Self::from_passes(Vec::new())
    }

    fn from_passes(passes: Vec<Invocation>) -> Self {
        let (machine, eager_limit) = (Machine::default(), EAGER_LIMIT);
        Self { passes, verify: true, asks_cost_model: false, machine, eager_limit }
    }
}

impl Default for Pipeline {
    /// The pipeline of the default level.
    fn default() -> Self {
        Self::new(Level::default())
    }
}

/// The durations of steps, and the notes of passes.
#[derive(Debug, Clone, Default)]
pub struct Timings {
    /// The name and the duration of every step, in order.
    pub steps: Vec<(&'static str, Duration)>,
    /// The notes, each with the name of its pass.
    pub notes: Vec<(&'static str, String)>,
}

impl Timings {
    /// Runs `work` and adds its duration.
    pub fn measure<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.steps.push((name, start.elapsed()));
        result
    }
}

/// The reason why a pipeline stopped.
#[derive(Debug, thiserror::Error)]
pub enum PassError {
    /// The program breaks rules of the model.
    #[error("{}{faults}", .after.map_or(String::new(), |pass| format!("after the pass `{pass}`: ")))]
    Invalid {
        /// The pass after which the rules are broken; `None` if the given program breaks them.
        after: Option<&'static str>,
        /// The broken rules.
        faults: Faults,
    },
    /// A pass refused to run.
    #[error("the pass `{pass}` refuses: {refusal}")]
    Refused {
        /// The pass.
        pass: &'static str,
        /// The reason.
        refusal: PassRefusal,
    },
}

/// Runs the passes of a pipeline and calls `after` with the program after each.
///
/// # Errors
/// The faults that the verifier finds in the program, before or after a pass, or the refusal of a
/// pass.
pub fn run(
    program: &mut Program,
    pipeline: &Pipeline,
    timings: &mut Timings,
    mut after: impl FnMut(&Pass, &Program),
) -> Result<(), PassError> {
    let check = |program: &Program, after, timings: &mut Timings| {
        let checked = timings.measure("verify", || verify(program));
        checked.map_err(|faults| PassError::Invalid { after, faults })
    };
    if pipeline.verify {
        check(program, None, timings)?;
    }
    let mut predictor = pipeline
        .asks_cost_model
        .then(|| Predictor::new(program, &pipeline.machine, pipeline.eager_limit));
    for (number, invocation) in pipeline.passes.iter().enumerate() {
        let pass = invocation.pass;
        let predictor = predictor.as_mut().filter(|_| pass.level == Some(Level::O2));
        let before = predictor.map(|predictor| (predictor, program.clone()));
        let (changed, notes) =
            timings.measure(pass.name, || rewrite(invocation, program, pipeline));
        let mut changed =
            changed.map_err(|refusal| PassError::Refused { pass: pass.name, refusal })?;
        timings.notes.extend(notes.into_iter().map(|note| (pass.name, note)));
        if let Some((predictor, before)) = before.filter(|_| changed) {
            let rest = &pipeline.passes[number + 1..];
            let finished = |program: &Program| finished(program, rest, pipeline);
            let verdict =
                timings.measure("cost model", || predictor.compare(&before, program, finished));
            if let Verdict::Unknown(error) = &verdict {
                let note = format!("the cost model predicts no time: {error}");
                timings.notes.push((pass.name, format!("{note}: the program stays as it is")));
            }
            if verdict != Verdict::NotSlower {
                (*program, changed) = (before, false);
            }
        }
        if changed && pipeline.verify {
            check(program, Some(pass.name), timings)?;
        }
        after(pass, program);
    }
    Ok(())
}

/// Returns a program after the passes of `rest` that also run at `-O1`. Passes on single bodies are
/// left out: at this level they keep every order, so they change no time.
fn finished(program: &Program, rest: &[Invocation], pipeline: &Pipeline) -> Program {
    let mut program = program.clone();
    let is_run =
        |pass: &Pass| pass.level != Some(Level::O2) && matches!(pass.rewrite, Rewrite::Program(_));
    for invocation in rest.iter().filter(|rest| is_run(rest.pass)) {
        // A pass of a level never refuses.
        let _ = rewrite(invocation, &mut program, pipeline);
    }
    program
}

/// Runs a pass; one that works on single bodies runs on the rayon pool of the calling thread.
/// Returns true if it changed anything, and its notes, each once.
fn rewrite(
    invocation: &Invocation,
    program: &mut Program,
    pipeline: &Pipeline,
) -> (Result<bool, PassRefusal>, Vec<String>) {
    let Invocation { pass, arguments } = invocation;
    let context = || Context::new(arguments, &pipeline.machine, pipeline.eager_limit);
    match pass.rewrite {
        Rewrite::Body(rewrite) => {
            let of_body = |_, body: &mut Body| {
                let context = context();
                (rewrite(body, &context), context.into_notes())
            };
            let of_bodies = of_bodies(&mut program.bodies, of_body);
            let changed = of_bodies.iter().any(|(changed, _)| *changed);
            let mut notes: Vec<String> = Vec::new();
            for note in of_bodies.into_iter().flat_map(|(_, notes)| notes) {
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
            (Ok(changed), notes)
        }
        Rewrite::Program(rewrite) => {
            let context = context();
            (rewrite(program, &context), context.into_notes())
        }
    }
}
