//! The reference interpreter of GOAL: what a program means, in the plainest code that says it.
//!
//! One thread, no transport and no clock: a program runs step by step, and a seed chooses at each
//! step which ready action starts or which message arrives next. It shares no code with the engine
//! that runs schedules, since it is what that engine is compared with; it is no way to run programs
//! fast.
//!
//! [`run`] gives one outcome, [`outcomes`] all of a small program with wildcards, [`always_ends`]
//! tells of such a program whether some order gets stuck, and [`replay`] the outcome of a matching
//! that was recorded elsewhere.

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
