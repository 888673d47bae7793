//! The passes, a module each. [`PASSES`](crate::PASSES) is the table of them.

pub(crate) mod edit;
pub(crate) mod join;
pub(crate) mod topological;

pub use join::join;
pub use topological::topological;
