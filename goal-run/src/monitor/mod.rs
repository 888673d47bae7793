//! Ranks that cannot go on, and what their actions wait for.
//!
//! `Watch` decides from the ranks' status words whether the job is stuck; [`Pending`] then reads
//! counters, bitmaps and schedules and says which actions wait for what.

mod cycle;
mod pending;
mod snapshot;
mod stopped;
#[cfg(test)]
mod tests;
mod watch;

pub use pending::Pending;
pub(crate) use snapshot::Observed;
pub use stopped::Stopped;
pub(crate) use stopped::signal_name;
#[cfg(test)]
use watch::Exchanged;
pub(crate) use watch::Watch;
