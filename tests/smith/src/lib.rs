//! Generates random valid GOAL programs from a seed. They test everything that executes or
//! transforms programs.
//!
//! [`program`] builds a program of a [`Shape`] as one sequence of events over all ranks. An event
//! is a message, a local operation, or a group of messages with wildcard receives. Each action
//! requires the earlier actions of its rank that access the same bytes. So every message has its
//! receive, there are no races, and the program comes to its end even if every send waits for its
//! receive. Its final memory is unique, unless [`Shape::outcomes_may_differ`] is true. At the end
//! the text order of actions is shuffled.
//!
//! [`tangle`] generates small programs whose messages compete, and which may get stuck in some
//! orders.
//!
//! [`on_buffers`] changes the memory of ranks into a table of buffers, as processes of programs
//! have it.
//!
//! This crate executes nothing and makes no invalid programs.
//!
//! ```
//! use goal_smith::Shape;
//!
//! let shape = Shape { ranks: (3, 3), ..Shape::default() };
//! let program = goal_smith::program(7, &shape);
//! assert_eq!(program.num_ranks(), 3);
//! // The same seed and shape give the same program on every machine.
//! assert!(program.body_of(0).same_graph(goal_smith::program(7, &shape).body_of(0)));
//! ```

mod buffers;
mod cells;
mod generate;
mod generator;
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

pub use buffers::on_buffers;
pub use shape::Shape;
pub use tangle::{storing_tangle, tangle};

use goal_lang::Program;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Returns the program of a seed. The same seed and shape give the same program on every machine.
pub fn program(seed: u64, shape: &Shape) -> Program {
    generator::Generator::new(ChaCha8Rng::seed_from_u64(seed), shape).program()
}
