//! Traces of runs, action by action: the points of ESPGOAL's PERFTRACE (thesis, chapter 6).
//!
//! An engine with a `Recorder` writes a `Record` of 32 bytes at the start and the end of an
//! instance, at the start and the end of an action, and when a receive and a message meet. The time
//! at which an action became ready is not recorded: it is computed from earlier ends when the trace
//! is written. The records of a rank lie in the segment, where the launcher finds them however the
//! job ended. If there is no room for all of them, the last ones are kept.

mod chrome;
mod names;
mod record;
mod recorder;
mod slices;
#[cfg(test)]
mod tests;

pub use chrome::Omitted;
pub use chrome::write;
pub use recorder::{area_bytes, recorder, shift};
