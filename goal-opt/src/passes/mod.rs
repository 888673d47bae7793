//! The passes, a module each. [`PASSES`](crate::PASSES) is the table of them.

pub(crate) mod coalesce;
pub(crate) mod contention;
pub(crate) mod dce;
pub(crate) mod fuse;
pub(crate) mod join;
mod levels;
mod prune;
pub(crate) mod segment;
pub(crate) mod topological;
mod window;

pub use join::join;
pub(crate) use prune::prune_pass;
pub use prune::{Pruned, prune};
pub use topological::topological;
pub(crate) use window::window_pass;
pub use window::{WindowError, Windowed, window};
