//! The limits of the binary form. The first ones belong to the format and can't be moved. The
//! others bound what a reader holds in memory.

/// The most dependencies that one action can count: `<num sources>` is a 16-bit integer (paper
/// III.C).
pub const INDEGREE_MAX: u32 = u16::MAX as u32;

/// Largest size of one section in bytes: the last multiple of 4 that an `<offset>`, a 32-bit
/// integer, can name (paper III.C).
pub const SECTION_BYTES_MAX: u64 = u32::MAX as u64 - 3;

/// The most actions that a stream has not reached yet and counts dependencies for, by default.
pub const TABLE_ENTRIES_MAX: usize = 1 << 22;

/// The most bytes of one action of a stream, by default: enough for a vector of 800,000 pieces.
pub const WINDOW_ACTION_BYTES_MAX: usize = 1 << 24;

/// The most bytes of initial and expected values that an [`Outline`](super::Outline) holds, for all
/// ranks together.
pub const WINDOW_IMAGES_BYTES_MAX: u64 = 1 << 30;
