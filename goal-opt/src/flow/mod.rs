//! The flow of data through a rank's memory: the writer of the bytes that an action reads, and the
//! values that are never read.
//!
//! All facts are about one body, for any content of its ranks' memory. They are derived along one
//! topological order. They hold in every order that the dependencies allow, as dependencies prove
//! the order of any two accesses to the same bytes; bytes without such a proof are marked.

mod cells;
mod order;
mod outputs;
mod values;
mod walk;

pub(crate) use order::Order;
pub(crate) use outputs::{OUTPUTS, Outputs};
pub(crate) use values::Flow;
pub(crate) use walk::Fate;
