//! The limits of passes and of the analyses that they share.

/// The most dependencies that a pass may leave an action with. The binary form can't count more for
/// an action.
pub const INDEGREE_MAX: u32 = u16::MAX as u32;

/// The largest size of a window in actions (paper III.D, Theorem 4): each may wait for all others
/// of its window in both ways, and a dummy for all.
pub(crate) const WINDOW_MAX: u32 = INDEGREE_MAX / 2;

/// Bound on the segments that the messages and local operations of a program are split into.
pub(crate) const SEGMENTS_MAX: u64 = 1 << 24;

/// Bound on the edges that searches for paths between two actions visit in all, beside
/// `ORDER_STEPS_PER_EDGE` for each edge and each action. One search visits at most a 64th of
/// them.
pub const ORDER_STEPS_MAX: u64 = 1 << 20;

/// Bound on the edges that all searches for paths visit, for each edge and each action of the
/// graph.
pub(crate) const ORDER_STEPS_PER_EDGE: u64 = 32;
