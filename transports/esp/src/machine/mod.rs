//! The protocol between a rank and one peer, as state machines without times, bytes and keys.
//!
//! A [`Slot`] sets up connections with one peer, one after the other. A [`Machine`] is an
//! established connection. The owner of a slot verifies frames before it passes their contents in.
//! It also writes the contents to be sent into frames, and reports timers that have expired. The
//! state alone decides which timers run. So a model checker can let every timer expire at every
//! moment, and what it proves holds for every clock.

mod connection;
#[cfg(test)]
mod model;
mod segment;
mod slot;

pub(crate) use connection::{Machine, Progress};
pub(crate) use segment::{Body, Identity, Segment, Timer};
pub(crate) use slot::{Change, Ends, Slot};
