//! Runs of short schedules in the call that starts them, without an engine.
//!
//! A schedule is *linked* if all ranks know alike where each of its messages lies. Ranks then write
//! messages to cells of their own boards, and read the cells of their peers. A reader finds a
//! message by its position, so nothing has to be matched. All ranks must start the linked schedules
//! of a communicator in the same order, which the library demands of all schedules.
//!
//! - [`Link`] computes from the sections of all ranks who writes what where. It cuts a schedule of
//!   more than 64 actions into blocks (`blocks.rs`).
//! - [`Linked`] is one rank's schedule, decoded to blocks of at most 64 operations with masks.
//! - [`Run`] executes it. An operation runs as soon as all that it needs have ended, as in the
//!   engine; so a linked run ends whenever the engine's run would.
//! - [`Lanes`] is the interface to the boards.
//!
//! **Threats.** A peer may write anything to its cells at any time, or write to them again while
//! this rank reads. Lengths and places come from the schedule and never from a cell, so such a peer
//! can only spoil the values of the result.

mod blocks;
mod build;
mod fold;
mod lanes;
mod link;
#[cfg(test)]
mod long_tests;
mod message;
mod messages;
mod operation;
mod order;
mod run;
#[cfg(test)]
mod tests;

pub use build::{Bindings, Linked, Unlinkable};
pub use lanes::{Lanes, Lines, Look, Place, Ring};
pub use link::Link;
pub use messages::Refusal;
pub use run::{Mismatch, Next, Run};
