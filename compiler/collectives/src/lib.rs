//! Generates collectives: the dependency graph of each rank, from the number of ranks, the root,
//! the size and place of the buffers, and the operation.
//!
//! [`ALGORITHMS`] is the table of all algorithms, each with the source that describes it and the
//! requests that it can meet. A graph is generated for one rank at a time, so a program for a
//! million ranks can be written to a file without being held in memory.
//!
//! A graph is built from what its rank knows. If blocks have different sizes ([`Blocks`]), a rank
//! needs to know only its own blocks in algorithms that use no others. In a graph of neighbours, it
//! needs to know only its own edges. Algorithms of two levels are composed of others over a map of
//! nodes ([`Nodes`]).
//!
//! This crate does no input or output. It does not check the programs that it generates; goal-check
//! proves them.
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
