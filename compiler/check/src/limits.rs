//! The limits on the work and memory of the checks.

/// The most ranges of bytes that the proof of a collective reads. A message whose parts came
/// separately counts once for each part.
pub(crate) const FOLLOWED_RANGES_MAX: u64 = 1 << 25;

/// The most runs of consecutive ranks that the proof of a collective keeps, for all combinations
/// together. A run has 24 bytes. Beyond that, the proof computes the ranks of a combination again
/// when it needs them.
pub(crate) const KEPT_RUNS_MAX: usize = 1 << 24;

/// The most operands that the proof of a collective visits when it computes ranks of combinations
/// again.
pub(crate) const COUNTED_OPERANDS_MAX: u64 = 1 << 28;

/// The most actions that the search through all orders of events visits, with the default effort. A
/// state counts as a quarter of the program's actions, plus the events on the way to it.
pub(crate) const SEARCH_STEPS_MAX: u64 = 1 << 23;

/// The most ranges of bytes that a comparison of a rank's accesses to memory visits. Each piece of
/// a buffer adds [`RANGE_STEPS_PER_PIECE`].
pub(crate) const RANGE_STEPS_MAX: u64 = 1 << 20;

/// The number of ranges of bytes that each piece of a buffer adds to [`RANGE_STEPS_MAX`].
pub(crate) const RANGE_STEPS_PER_PIECE: u64 = 64;
