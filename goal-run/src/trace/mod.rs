//! What happened when, action by action: the points of ESPGOAL's PERFTRACE (thesis, chapter 6).
//!
//! An engine that was given a [`Recorder`] leaves a [`Record`] of 32 bytes at the start of an
//! instance, when an action starts, when a receive and a message meet, when an action ends and at
//! the end of the instance. When an action became ready is not recorded: it follows from the ends
//! before it, and is worked out when the trace is written. The records of a rank lie in the
//! segment, where the launcher finds them however the job ended; of more than there is room for the
//! last ones are kept.

mod chrome;
mod lanes;
mod names;
mod ready;
mod record;
mod recorder;
mod slices;
#[cfg(test)]
mod tests;

pub use chrome::Omitted;
pub(crate) use chrome::write;
pub use record::Record;
pub(crate) use recorder::shift;
pub use recorder::{Recorder, area_bytes, recorder};
