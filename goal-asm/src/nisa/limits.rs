//! The limits of the binary form: first those of the format, which cannot be moved, then those on
//! what a reader holds in memory.

/// Most dependencies that one action can count: `<num sources>` is a 16-bit integer (paper III.C).
pub const INDEGREE_MAX: u32 = u16::MAX as u32;

/// Largest size of one section in bytes: the last multiple of 4 that an `<offset>`, a 32-bit
/// integer, can name (paper III.C).
pub const SECTION_BYTES_MAX: u64 = u32::MAX as u64 - 3;

/// Most actions that a stream counts dependencies of before it reaches them, by default.
pub const TABLE_ENTRIES_MAX: usize = 1 << 22;

/// Most bytes of one action of a stream, by default: those of 800,000 pieces of a vector.
pub const WINDOW_ACTION_BYTES_MAX: usize = 1 << 24;

/// Most bytes of initial and expected values of all ranks together that an outline holds.
pub const WINDOW_IMAGES_BYTES_MAX: u64 = 1 << 30;
