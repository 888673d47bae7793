//! Programs that state all ranks at once.

use crate::program::Body;
use crate::relative::Relation;

/// A program whose ranks differ in their peers only, and these by a [`Relation`]. It takes the
/// memory of one rank. Its text is one `rank *` block with relative peers.
#[derive(Debug, Clone)]
pub struct SymmetricProgram {
    /// Number of ranks.
    pub num_ranks: u32,
    /// The relation of all peers.
    pub relation: Relation,
    /// The graph of rank 0. No receive has a wildcard for its source.
    pub body: Body,
}
