//! What becomes of the bytes of a rank: who wrote what another action reads, and what is never
//! read.
//!
//! Everything here is a fact of one body, whatever its ranks' memory holds. It is derived along one
//! topological order, and holds in every order that the dependencies allow, because the order of
//! any two accesses to the same bytes is proved by dependencies; bytes for which a proof is missing
//! are marked.

mod cells;
mod order;
mod outputs;
mod values;
mod walk;

pub(crate) use order::Order;
pub(crate) use outputs::{OUTPUTS, Outputs};
pub(crate) use values::{Fate, Flow};
