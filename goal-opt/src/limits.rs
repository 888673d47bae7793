//! The limits of passes and of the analyses that they share.

/// The most dependencies that a pass may leave an action with. The binary form can't count more of
/// them.
pub const INDEGREE_MAX: u32 = u16::MAX as u32;

/// The largest size of a window in actions (paper III.D, Theorem 4). An action may wait for all
/// others of its window by both kinds of dependencies, and a dummy for all actions of a window.
pub(crate) const WINDOW_MAX: u32 = INDEGREE_MAX / 2;

/// The most segments into which the messages and local operations of a program are split.
pub(crate) const SEGMENTS_MAX: u64 = 1 << 24;

/// The most edges that all searches for paths between two actions visit. Each edge and each node of
/// the graph adds `ORDER_STEPS_PER_EDGE`. One search visits at most a 64th of the number here.
pub const ORDER_STEPS_MAX: u64 = 1 << 20;

/// The number of edges that each edge and each node of a graph adds to [`ORDER_STEPS_MAX`].
pub(crate) const ORDER_STEPS_PER_EDGE: u64 = 32;
