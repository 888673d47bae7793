//! Executes GOAL schedules on one rank: the paper's Listing 1 over a NISA section that was verified before.
//!
//! An [`Engine`] starts any number of instances of schedules and makes them progress whenever it is
//! polled. It does no IO, makes no system call and reads no clock: its caller hands in the time, the
//! memory and a [`transport::Transport`]. It never looks at text, and it refuses to guess: a message
//! whose receive has another size is an error that names both ends.

mod engine;
mod heap;
mod matching;
pub mod memory;
mod ops;
mod seed;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod trace;
pub mod transport;

pub use engine::*;
