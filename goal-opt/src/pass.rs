//! The pass manager: one table of passes, one function that runs them.

use crate::verify::{Faults, verify};
use goal_lang::{Body, Program};
use std::time::{Duration, Instant};

/// A rewrite of one rank's graph.
#[derive(Debug)]
pub struct Pass {
    /// The name in reports of time and in errors.
    pub name: &'static str,
    /// What it does, in one line.
    pub description: &'static str,
    rewrite: fn(&mut Body) -> bool,
}

/// Every pass, in the order in which a pipeline has them.
pub static PASSES: &[Pass] = &[
    Pass {
        name: "join",
        description: "an action that waits for more than 65535 others waits for a tree of joins instead",
        rewrite: crate::join,
    },
    Pass {
        name: "topological",
        description: "every action comes after all that it waits for, else in the order of the text",
        rewrite: crate::topological,
    },
];

/// How much is done to a program (`-O`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Level {
    /// Only what the format needs: the text's order and dependencies stay.
    O0,
    /// All passes.
    #[default]
    O1,
}

/// Passes in order, and whether the verifier runs before the first and after each.
#[derive(Debug, Clone)]
pub struct Pipeline {
    /// The passes.
    pub passes: Vec<&'static Pass>,
    /// Whether the program is verified.
    pub verify: bool,
}

impl Pipeline {
    /// The passes of a level, with the verifier.
    pub fn new(level: Level) -> Self {
        let passes = PASSES.iter().filter(|pass| level == Level::O1 || pass.name == "join").collect();
        Self { passes, verify: true }
    }
}

/// Where the time went.
#[derive(Debug, Clone, Default)]
pub struct Timings {
    /// Name and duration of every step, in order.
    pub steps: Vec<(&'static str, Duration)>,
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

/// A program that breaks a rule.
#[derive(Debug, thiserror::Error)]
#[error("{}{faults}", .after.map_or(String::new(), |pass| format!("after the pass `{pass}`: ")))]
pub struct PassError {
    /// The pass that made it; `None` where the program came so.
    pub after: Option<&'static str>,
    /// The rules that were broken.
    pub faults: Faults,
}

/// Runs the passes of a pipeline over every body.
///
/// # Errors
/// What the verifier finds in the program, before or after a pass.
pub fn run(program: &mut Program, pipeline: &Pipeline, timings: &mut Timings) -> Result<(), PassError> {
    let check = |program: &Program, after, timings: &mut Timings| {
        let checked = timings.measure("verify", || verify(program));
        checked.map_err(|faults| PassError { after, faults })
    };
    if pipeline.verify {
        check(program, None, timings)?;
    }
    for pass in &pipeline.passes {
        let mut changed = false;
        timings.measure(pass.name, || {
            for body in &mut program.bodies {
                changed |= (pass.rewrite)(body);
            }
        });
        if changed && pipeline.verify {
            check(program, Some(pass.name), timings)?;
        }
    }
    Ok(())
}
