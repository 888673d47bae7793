//! Parts of `goal-run` that its tests and the benchmarks use too.
//!
//! - [`verify`] compares a run with the reference interpreter.
//! - [`named`] parses settings of a few names on command lines.

mod named;
pub mod verify;

pub use named::named;
