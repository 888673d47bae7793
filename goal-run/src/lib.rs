//! Executes GOAL schedules: the engine, message matching, local operations and transports.
//!
//! The engine is the paper's Listing 1 over a NISA section that was verified before. It does no IO,
//! makes no system call and reads no clock: its caller hands in the time and a
//! [`transport::Transport`]. It never looks at text, and it refuses to guess: a message whose
//! receive has another size is an error that names both ends.
//!
//! Start at [`engine`] to embed it, at [`launcher::run`] to run a whole job on ranks that are
//! processes or threads.

pub mod hosts;
mod inherited;
pub mod launcher;
pub mod limits;

pub mod monitor;

pub mod progress;
pub mod rank;
pub mod report;
pub mod rights;

pub mod trace;
pub mod transport;
pub mod verify;
