//! The limits of passes and of the analyses that they share.

/// Most dependencies that a pass may leave one action with: as many as an action of the binary form
/// counts.
pub const INDEGREE_MAX: u32 = u16::MAX as u32;

/// Most actions of a window (paper III.D, Theorem 4): each may wait for all others of it in both
/// ways, and a dummy for all.
pub const WINDOW_MAX: u32 = INDEGREE_MAX / 2;

/// Most segments that the messages and local operations of a program are split into.
pub const SEGMENTS_MAX: u64 = 1 << 24;

/// Edges that the search for a path between two actions may look at in all, beside
/// [`ORDER_STEPS_PER_EDGE`] for each edge and each action; one search looks at most at a 64th of
/// them.
pub const ORDER_STEPS_MAX: u64 = 1 << 20;

/// Edges that all searches for paths between actions may look at for each edge and each action of
/// the graph.
pub const ORDER_STEPS_PER_EDGE: u64 = 32;
