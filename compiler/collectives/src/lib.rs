//! Generators of collectives: the dependency graph of each rank, from the number of ranks, the
//! root, the size and place of the buffers, and the operation.
//!
//! [`ALGORITHMS`] is the table of all algorithms, each with the source that describes it and the
//! requests that it can meet. A graph is generated for one rank at a time, so a program for a
//! million ranks can be written to a file without being held in memory.
//!
//! A graph is built from what its rank knows: of blocks of different sizes ([`Blocks`]) its own
//! ones, if the algorithm asks for no more, and of a graph of neighbours its own edges. Algorithms
//! of two levels are composed of others over a map of nodes ([`Nodes`]).
//!
//! This crate does no input or output, and checks nothing that it generates: goal-check proves it.
//!
//! ```
//! use goal_collectives::{Request, algorithm};
//! use goal_lang::CollectiveKind;
//!
//! let request = Request { count: 1024, ..Request::new(CollectiveKind::Allreduce, 8) };
//! let algorithm = algorithm(request.kind, "recursive-doubling").expect("it is in the table");
//! let body = algorithm.body(&request, 0)?;
//! // Three rounds of a send, a receive and a sum.
//! assert_eq!(body.len(), 9);
//! # Ok::<(), goal_collectives::GenerateError>(())
//! ```

mod algorithm;
mod algorithms;
mod buf;
mod decision;
mod error;
mod hazards;
mod levels;
mod nodes;
mod rank;
mod request;
mod rules;
#[cfg(test)]
mod tests;
mod view;

pub use algorithm::Algorithm;
pub use algorithms::{ALGORITHMS, algorithm};
pub use decision::{Rule, Table, TableError};
pub use error::GenerateError;
pub use nodes::Nodes;
pub use request::{Blocks, Request, RequestError};
pub use rules::{Counts, Operations, Ranks};
