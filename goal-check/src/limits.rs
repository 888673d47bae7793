//! The limits on the work and memory of the checks.

/// Most ranges of bytes that the proof of a collective reads: a message of parts that came
/// separately counts once a part.
pub(crate) const FOLLOWED_RANGES_MAX: u64 = 1 << 25;

/// Most runs of ranks that the proof of a collective keeps of all combinations together; 24 bytes
/// each. Where there are more, it finds the ranks of each combination anew.
pub(crate) const KEPT_RUNS_MAX: usize = 1 << 24;

/// Most operands that the proof of a collective looks at to find the ranks of combinations anew.
pub(crate) const COUNTED_OPERANDS_MAX: u64 = 1 << 28;

/// Actions that the search through all orders of events looks at, state by state, at the default
/// effort. A state counts a quarter of the program's actions and the events on the way to it.
pub(crate) const SEARCH_STEPS_MAX: u64 = 1 << 23;

/// Ranges of bytes that the comparison of a rank's accesses to memory may look at in all, beside
/// [`RANGE_STEPS_PER_PIECE`] for each piece of a buffer.
pub(crate) const RANGE_STEPS_MAX: u64 = 1 << 20;

/// Ranges of bytes that the comparison of accesses to memory may look at for each piece of a
/// buffer.
pub(crate) const RANGE_STEPS_PER_PIECE: u64 = 64;
