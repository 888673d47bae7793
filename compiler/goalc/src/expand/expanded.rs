//! Collectives that became messages.

use goal_collectives::{Algorithm, Request};

/// Collectives that were expanded by the same algorithm for the same request.
#[derive(Debug, Clone)]
pub struct Expanded {
    /// The algorithm.
    pub algorithm: &'static Algorithm,
    /// The request, with members in place of ranks.
    pub request: Request,
    /// The number of such collectives.
    pub count: u64,
    /// The actions of all members.
    pub(super) actions: u64,
    /// The tags that two members use.
    pub(super) tags: u32,
}
