//! The limits on the work and memory of the checks.

/// Bound on the ranges of bytes that the proof of a collective reads. A message whose parts came
/// separately counts once for each part.
pub(crate) const FOLLOWED_RANGES_MAX: u64 = 1 << 25;

/// Bound on the runs of ranks that the proof of a collective keeps for all combinations together,
/// with 24 bytes each. If there are more, it computes the ranks of each combination again when it
/// needs them.
pub(crate) const KEPT_RUNS_MAX: usize = 1 << 24;

/// Bound on the operands that the proof of a collective visits to compute the ranks of combinations
/// again.
pub(crate) const COUNTED_OPERANDS_MAX: u64 = 1 << 28;

/// Bound on the actions that the search through all orders of events visits, state by state, with
/// the default effort. A state counts a quarter of the program's actions and the events on the way
/// to it.
pub(crate) const SEARCH_STEPS_MAX: u64 = 1 << 23;

/// Bound on the ranges of bytes that the comparison of a rank's accesses to memory visits in all,
/// beside [`RANGE_STEPS_PER_PIECE`] for each piece of a buffer.
pub(crate) const RANGE_STEPS_MAX: u64 = 1 << 20;

/// Bound on the ranges of bytes that the comparison of accesses to memory visits for each piece of
/// a buffer.
pub(crate) const RANGE_STEPS_PER_PIECE: u64 = 64;
