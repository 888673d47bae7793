//! Pipelines: which passes run in which order, and the function that runs them.

mod spec;
#[cfg(test)]
mod tests;

pub use spec::SpecError;

use crate::machine::Machine;
use crate::pass::{Arguments, Context, Level, Pass, Refusal, Rewrite};
use crate::passes::PASSES;
use crate::verify::{Faults, verify};
use goal_lang::Program;
use goal_lang::limits::EAGER_LIMIT;
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// A pass with the parameters that it runs with.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The pass.
    pub pass: &'static Pass,
    /// Its parameters.
    pub arguments: Arguments,
}

/// Passes in order, and what they run with.
#[derive(Debug, Clone)]
pub struct Pipeline {
    /// The passes.
    pub passes: Vec<Invocation>,
    /// Whether the verifier runs before the first and after each.
    pub verify: bool,
    /// The machine that the schedule is meant for.
    pub machine: Machine,
    /// Largest message in bytes that the runtime sends before its receive is there.
    pub eager_limit: u64,
}

impl Pipeline {
    /// The passes of a level.
    pub fn new(level: Level) -> Self {
        let passes = PASSES.iter().filter(|pass| pass.level.is_some_and(|least| least <= level));
        Self::of(
            passes
                .map(|pass| Invocation { pass, arguments: Arguments::new(pass.parameters) })
                .collect(),
        )
    }

    /// The passes of a list: `a,b(c=4)`. What the format needs comes last, again where other passes
    /// follow it.
    ///
    /// # Errors
    /// What is no pass, no parameter or no value of one.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let mut passes = spec::parse(text)?;
        for needed in Self::new(Level::O0).passes {
            if passes.last().is_none_or(|last| last.pass.name != needed.pass.name) {
                passes.push(needed);
            }
        }
        Ok(Self::of(passes))
    }

    /// No pass at all: the program stays as it is, and is verified.
    pub fn empty() -> Self {
        Self::of(Vec::new())
    }

    fn of(passes: Vec<Invocation>) -> Self {
        Self { passes, verify: true, machine: Machine::default(), eager_limit: EAGER_LIMIT }
    }
}

impl Default for Pipeline {
    /// That of the default level.
    fn default() -> Self {
        Self::new(Level::default())
    }
}

/// Where the time went, and what passes had to say.
#[derive(Debug, Clone, Default)]
pub struct Timings {
    /// Name and duration of every step, in order.
    pub steps: Vec<(&'static str, Duration)>,
    /// The name of a pass and its note.
    pub notes: Vec<(&'static str, String)>,
}

impl Timings {
    /// Runs `work` and notes how long it took.
    pub fn measure<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.steps.push((name, start.elapsed()));
        result
    }
}

/// Why a pipeline stopped.
#[derive(Debug, thiserror::Error)]
pub enum PassError {
    /// A program that breaks a rule of the model.
    #[error("{}{faults}", .after.map_or(String::new(), |pass| format!("after the pass `{pass}`: ")))]
    Invalid {
        /// The pass that made it; `None` where the program came so.
        after: Option<&'static str>,
        /// The rules that were broken.
        faults: Faults,
    },
    /// A pass that cannot do what it was asked for.
    #[error("the pass `{pass}` refuses: {refusal}")]
    Refused {
        /// The pass.
        pass: &'static str,
        /// Why.
        refusal: Refusal,
    },
}

/// Runs the passes of a pipeline, and calls `after` with the program after each.
///
/// # Errors
/// What the verifier finds in the program, before or after a pass, and what a pass refuses.
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
    for Invocation { pass, arguments } in &pipeline.passes {
        let context = || Context::new(arguments, &pipeline.machine, pipeline.eager_limit);
        let (changed, notes) = timings.measure(pass.name, || rewrite(pass, program, context));
        timings.notes.extend(notes.into_iter().map(|note| (pass.name, note)));
        let changed = changed.map_err(|refusal| PassError::Refused { pass: pass.name, refusal })?;
        if changed && pipeline.verify {
            check(program, Some(pass.name), timings)?;
        }
        after(pass, program);
    }
    Ok(())
}

/// Runs a pass, on the ambient rayon pool where it looks at one body at a time. Whether it changed
/// anything, and its notes, each once.
fn rewrite<'a>(
    pass: &Pass,
    program: &mut Program,
    context: impl Fn() -> Context<'a> + Sync,
) -> (Result<bool, Refusal>, Vec<String>) {
    match pass.rewrite {
        Rewrite::Body(rewrite) => {
            let of_body = |body| {
                let context = context();
                (rewrite(body, &context), context.into_notes())
            };
            let of_bodies: Vec<(bool, Vec<String>)> =
                program.bodies.par_iter_mut().map(of_body).collect();
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
