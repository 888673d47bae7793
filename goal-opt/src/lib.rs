//! Passes over a [`Program`](goal_lang::Program), and the verifier that runs after each.
//!
//! A pass changes the form of a schedule, never what it computes: every dependency of the text still holds afterwards.
//! This crate does no input or output but for reading the clock to time passes. Start at [`run`] and [`PASSES`].

mod edit;
mod join;
mod pass;
#[cfg(test)]
mod tests;
mod topological;
mod verify;

pub use join::join;
pub use pass::{Level, PASSES, Pass, PassError, Pipeline, Timings, run};
pub use topological::topological;
pub use verify::{Fault, Faults, verify};
