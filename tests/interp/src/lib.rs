//! The reference interpreter of GOAL: the meaning of a program in the plainest code.
//!
//! [`run`] gives one outcome of a program, [`outcomes`] all outcomes of a small one with wildcards,
//! [`always_ends`] decides if some order of its steps gets stuck, and [`replay`] gives the outcome
//! of a recorded matching. A program runs step by step; a seed chooses which ready action starts or
//! which message arrives next.
//!
//! There is one thread, no transport and no clock. The interpreter shares no code with the engine
//! of `goal-run`, because that engine is compared with it. It is not fast.
//!
//! ```
//! use goal_interp::Options;
//! use goal_lang::{ParseOptions, SourceMap};
//! use std::sync::Arc;
//!
//! let text = "rank 0 { init 0 = Int32 7; send 0,4 to 1; } rank 1 { recv 8,4 from 0; }";
//! let mut sources = SourceMap::default();
//! sources.add("example.goal", Arc::new(text.as_bytes().to_vec()));
//! let program = goal_lang::parse(&sources, &ParseOptions::default()).program.expect("valid");
//!
//! let outcome = goal_interp::run(&program, &Options::default())?;
//! assert_eq!(outcome.memory[1][8..12], 7i32.to_le_bytes());
//! assert_eq!(outcome.messages, 1);
//! # Ok::<(), goal_interp::Error>(())
//! ```

mod error;
mod matching;
mod memory;
mod ops;
mod options;
mod outcome;
mod outcomes;
mod reach;
mod replay;
mod run;
mod state;
#[cfg(test)]
mod tests;

pub use error::{Cause, Error, Failure, Illegal, Place, Stuck, Wait, Waiting};
pub use ops::{DivisionByZero, apply};
pub use options::{Eager, Options, UserFunction};
pub use outcome::{Matches, Mismatch, Outcome, Taken, mismatches};
pub use outcomes::{always_ends, outcomes};
pub use replay::replay;
pub use run::run;
