//! Finds jobs that are stuck, and reports what their actions wait for.
//!
//! `Watch` decides from the status words of the ranks whether the job is stuck. Then [`Pending`]
//! reads counters, bitmaps and schedules. It lists the unfinished actions, and what each of them
//! waits for.

mod cycle;
mod kernel;
mod pending;
mod programs;
mod snapshot;
mod standstill;
#[cfg(test)]
mod tests;
mod watch;

pub use pending::Pending;
pub(crate) use pending::{Started, Stopped, signal_name};
pub(crate) use snapshot::Observed;
pub(crate) use standstill::{Change, Standstill};
pub(crate) use watch::{Exchanged, Watch};
