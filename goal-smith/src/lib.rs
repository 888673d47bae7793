//! Random valid GOAL programs from a seed, for tests of everything that executes or transforms
//! programs.
//!
//! A program is built as one sequence of events over all ranks (a message, a local operation, a
//! group of messages with wildcard receives); each action requires the earlier ones of its rank
//! that touch the same bytes. So a program matches, cannot deadlock even when every send waits for
//! its receive, has no races, and its final memory is unique, unless [`Shape::outcomes_may_differ`]
//! asks for more. The text order of actions is shuffled at the end.
//!
//! [`tangle`] makes the other kind: small programs whose messages get in each other's way, which
//! may get stuck in some orders.
//!
//! This crate does not execute anything and makes no invalid programs. Start at [`program`] and
//! [`Shape`].

mod cells;
mod generate;
mod group;
mod image;
mod local;
mod message;
mod node;
mod operands;
mod reduce;
mod shape;
mod tangle;
#[cfg(test)]
mod tests;

pub use shape::Shape;
pub use tangle::{storing_tangle, tangle};

use goal_lang::Program;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The program of a seed: the same for the same seed and shape on every machine.
pub fn program(seed: u64, shape: &Shape) -> Program {
    generate::Generator::new(ChaCha8Rng::seed_from_u64(seed), shape).program()
}
