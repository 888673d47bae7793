//! What can be known about a [`Program`](goal_lang::Program) before it runs, and what can be made
//! better.
//!
//! Passes change the form of a schedule, never what it computes; `RULES.md` says what a pass may
//! do. The verifier runs after each. Analyses look at all ranks together. This crate does no input
//! or output but for reading the clock to time passes. Start at [`run`] and [`PASSES`] for passes,
//! at [`check::check`] for what is wrong with a program, at [`whole`] for what analyses of all
//! ranks share, at [`reduce::reduce`] for small programs that show the same fault.

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
pub use pass::{Arguments, Context, Level, Parameter, Pass, Refusal, Rewrite, Values};
pub use passes::{PASSES, Pruned, WindowError, Windowed, join, prune, topological, window};
pub use pipeline::{Invocation, PassError, Pipeline, SpecError, Timings, run};
pub use text_order::first_to_last;
pub use verify::{Fault, Faults, Rule, verify};
