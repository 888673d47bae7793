//! Cuts programs to pieces and puts programs together, rank by rank.
//!
//! [`Slice`] keeps some ranks, or a window of every rank's actions. [`Concat`] lets programs follow
//! each other on the same ranks. [`Merge`] places several programs on the ranks of one. Each makes
//! the ranks of its result one at a time, so that programs may be larger than memory.

mod assembly;
mod concat;
mod data;
mod merge;
mod numbers;
mod placement;
mod slice;
mod tags;
#[cfg(test)]
mod tests;

pub use concat::Concat;
pub use merge::Merge;
pub use numbers::{NumbersError, RankList, Window};
pub use placement::Placements;
pub use slice::{Slice, Summary};
