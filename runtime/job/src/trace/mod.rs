//! Records when the actions of a run start and end. The records have the points of ESPGOAL's
//! PERFTRACE (thesis, chapter 6).
//!
//! An engine with a `Recorder` writes a `Record` of 32 bytes at each point. The points are starts
//! and ends of instances, starts and ends of actions, and matches of a receive and a message. The
//! time at which an action became ready is not recorded. It is computed from earlier ends when the
//! trace is written. The records of a rank lie in the segment, where the launcher finds them
//! however the job ended. If there is no room for all records, the last ones are kept.

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
