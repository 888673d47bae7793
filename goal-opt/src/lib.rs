//! Passes, which change the form of a schedule and never its result, and the analyses of all ranks
//! that passes and checks share.
//!
//! [`run`] runs a [`Pipeline`] of passes from the table [`PASSES`], with the [verifier](verify)
//! after each. [`whole`] numbers the actions of all ranks and executes them without data, [`reach`]
//! answers questions about paths in large graphs, and [`cost`] predicts when each rank ends.
//! `RULES.md` states what a pass may do, and why each keeps these rules.
//!
//! This crate never executes a program on data. It does no input or output, except that it reads
//! the clock to time passes. It knows neither the binary form nor the checks of programs.
//!
//! ```
//! use goal_lang::{ParseOptions, SourceMap};
//! use goal_opt::{Level, Pipeline, Timings};
//! use std::sync::Arc;
//!
//! let text = "rank 0 {
//!     a: calc 1; b: calc 2; c: calc 3;
//!     b requires a; c requires b; c requires a;
//! }";
//! let mut sources = SourceMap::default();
//! sources.add("example.goal", Arc::new(text.as_bytes().to_vec()));
//! let mut program = goal_lang::parse(&sources, &ParseOptions::default()).program.expect("valid");
//!
//! let pipeline = Pipeline::new(Level::O1);
//! goal_opt::run(&mut program, &pipeline, &mut Timings::default(), |_, _| {})?;
//! // `c` waits for `a` through `b`, so `prune` drops the third dependency.
//! assert_eq!(program.body_of(0).requires.len(), 2);
//! # Ok::<(), goal_opt::PassError>(())
//! ```

mod bodies;
pub mod cost;
pub mod edit;
mod flow;
pub mod limits;
mod machine;
mod marks;
mod pass;
mod passes;
mod pipeline;
pub mod reach;
#[cfg(test)]
mod tests;
mod text_order;
mod verify;
pub mod whole;

pub use machine::{Machine, MachineError};
pub use pass::{Level, Parameter, Pass, PassRefusal, Values};
pub use passes::{PASSES, WindowError, Windowed, topological, window};
pub use pipeline::{Invocation, PassError, Pipeline, SpecError, Timings, run};
pub use text_order::first_to_last;
pub use verify::{Fault, Faults, Rule, verify};
