//! Shares parts of `goal-run` with its tests and with the benchmarks.
//!
//! - [`verify`] compares a run with the reference interpreter.
//! - [`named`] parses settings of a few names on command lines.

mod named;
pub mod verify;

pub use named::named;
