//! The pass manager: one table of passes, one function that runs them.

mod arguments;
mod pipeline;
mod spec;
#[cfg(test)]
mod tests;

pub use arguments::{Arguments, Parameter, Values};
pub use pipeline::{Invocation, Level, PassError, Pipeline, Timings, run};
pub use spec::SpecError;

use crate::flow::OUTPUTS;
use crate::machine::Machine;
use crate::passes;
use goal_lang::limits::INDEGREE_MAX;
use goal_lang::{Body, Program};
use std::cell::RefCell;

/// A rewrite of a program.
#[derive(Debug)]
pub struct Pass {
    /// The name in `--passes`, reports of time and errors.
    pub name: &'static str,
    /// What it does, in one line.
    pub description: &'static str,
    /// The level from which on it runs without being named; `None` where it has to be asked for.
    pub level: Option<Level>,
    /// What can be set: `name(parameter=value)`.
    pub parameters: &'static [Parameter],
    /// The rewrite.
    pub rewrite: Rewrite,
}

/// What a pass looks at. Both kinds say whether they changed anything.
#[derive(Debug)]
pub enum Rewrite {
    /// One rank's graph at a time, whatever the other ranks do.
    Body(fn(&mut Body, &Context<'_>) -> bool),
    /// All ranks together. What it cannot do by the rules it refuses, and leaves the program as it
    /// was.
    Program(fn(&mut Program, &Context<'_>) -> Result<bool, Refusal>),
}

/// What a pass may ask.
#[derive(Debug)]
pub struct Context<'a> {
    /// The parameters it was given.
    pub arguments: &'a Arguments,
    /// The machine that the schedule is meant for.
    pub machine: &'a Machine,
    /// Largest message in bytes that the runtime sends before its receive is there.
    pub eager_limit: u64,
    notes: RefCell<Vec<String>>,
}

impl Context<'_> {
    /// Tells the user something that is no error: where a bound cut the work, for one. What is said
    /// alike of several ranks is told once.
    pub fn note(&self, note: impl Into<String>) {
        self.notes.borrow_mut().push(note.into());
    }
}

/// Why a pass does not do what it was asked for, and the way out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

/// Every pass, in the order in which a level's pipeline has them.
pub static PASSES: &[Pass] = &[
    Pass {
        name: "dce",
        description: "copies that can be read at their source, and local operations without a use, go",
        level: Some(Level::O1),
        parameters: &[OUTPUTS],
        rewrite: Rewrite::Program(passes::dce::dce),
    },
    Pass {
        name: "fuse",
        description: "a receive or a send and the local operation beside it become one action",
        level: Some(Level::O1),
        parameters: &[OUTPUTS],
        rewrite: Rewrite::Program(passes::fuse::fuse),
    },
    Pass {
        name: "coalesce",
        description: "small messages between two ranks that become ready together become one",
        level: Some(Level::O2),
        parameters: &[Parameter {
            name: "size",
            description: "most bytes of the one; by default what the machine sends in the time of an empty message",
            values: Values::Number { min: 1, default: None },
        }],
        rewrite: Rewrite::Program(passes::coalesce::coalesce),
    },
    Pass {
        name: "contention",
        description: "messages that could be under way together go in rounds, so that ranks receive k at once",
        level: Some(Level::O2),
        parameters: &[Parameter {
            name: "k",
            description: "receives that a rank may have open at once",
            values: Values::Number { min: 1, default: Some(1) },
        }],
        rewrite: Rewrite::Program(passes::contention::contention),
    },
    Pass {
        name: "segment",
        description: "large messages that are forwarded become pipelines of segments, at both ends together",
        level: Some(Level::O2),
        parameters: &[Parameter {
            name: "size",
            description: "bytes of a segment, taken to a multiple of 8; from the machine where nobody says",
            values: Values::Number { min: 1, default: None },
        }],
        rewrite: Rewrite::Program(passes::segment::segment),
    },
    Pass {
        name: "prune",
        description: "dependencies that others imply are dropped",
        level: Some(Level::O1),
        parameters: &[],
        rewrite: Rewrite::Body(passes::prune_pass),
    },
    Pass {
        name: "join",
        description: "an action that waits for more than 65535 others waits for a tree of joins instead",
        level: Some(Level::O0),
        parameters: &[Parameter {
            name: "most",
            description: "dependencies that an action may have, at most what the format counts to",
            values: Values::Number { min: 2, default: Some(INDEGREE_MAX as u64) },
        }],
        rewrite: Rewrite::Body(|body, context| {
            let most = context.arguments.number("most").unwrap_or(u64::MAX);
            passes::join(body, most.min(INDEGREE_MAX.into()) as usize)
        }),
    },
    Pass {
        name: "topological",
        description: "actions come after all that they wait for, those on long paths to the end first",
        level: Some(Level::O1),
        parameters: &[],
        rewrite: Rewrite::Program(|program, context| {
            Ok(passes::topological(program, context.machine))
        }),
    },
    Pass {
        name: "window",
        description: "dummies between groups of actions, so that an executor needs room for one group only",
        level: None,
        parameters: &[Parameter {
            name: "size",
            description: "most actions between two dummies",
            values: Values::Number { min: 1, default: None },
        }],
        rewrite: Rewrite::Program(passes::window_pass),
    },
];
