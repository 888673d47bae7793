//! The bodies that are made of blocks.

use crate::ids::BodyId;

/// The way in which a body is made.
pub(super) enum Recipe {
    /// From one block that uses no labels of other blocks.
    Single(u32),
    /// From several blocks, from one block with labels that are not resolved yet or that are
    /// defined twice, or from none for an empty rank.
    Merged(Vec<u32>),
}

/// The body of each rank, and the recipe of each body.
pub(super) struct Plan {
    pub(super) ranks: Vec<BodyId>,
    pub(super) recipes: Vec<Recipe>,
}
