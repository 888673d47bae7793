//! Every limit of the toolchain, in one place.
//!
//! The first group belongs to the NISA format and cannot be moved; the second group guards against
//! hostile or mistaken input and can be raised by whoever reads the file ([`Limits`]).

/// Largest number of dependencies that one NISA action can count (`<num sources>` is a 16-bit
/// integer, paper III.C). The compiler inserts join actions above it.
pub const INDEGREE_MAX: u32 = u16::MAX as u32;

/// Most actions of a window (paper III.D, Theorem 4): each may wait for all others of it in both
/// ways, and a dummy for all.
pub const WINDOW_MAX: u32 = INDEGREE_MAX / 2;

/// Most segments that the messages and local operations of a program are split into.
pub const SEGMENTS_MAX: u64 = 1 << 24;

/// Largest size of one NISA section in bytes: the last multiple of 4 that an `<offset>`, a 32-bit
/// integer, can name (paper III.C).
pub const SECTION_BYTES_MAX: u64 = u32::MAX as u64 - 3;

/// Largest rank number; `u32::MAX` is [`crate::ANY`].
pub const RANK_MAX: u32 = u32::MAX - 1;

/// Largest tag; `u32::MAX` is [`crate::ANY`].
pub const TAG_MAX: u32 = u32::MAX - 1;

/// Largest message in bytes that is sent before its receive is there, unless `--eager-limit` says
/// otherwise.
pub const EAGER_LIMIT: u64 = 16 << 10;

/// Most bytes of messages that a rank keeps for receives to come, unless `--unexpected-limit` says
/// otherwise.
pub const UNEXPECTED_LIMIT: u64 = 64 << 20;

/// What a message that is kept for a receive to come counts beside its bytes.
pub const KEPT_OVERHEAD: u64 = 128;

/// Longest label in bytes.
pub const LABEL_BYTES_MAX: usize = u16::MAX as usize;

/// Most bytes of an input that has to be held in memory, because it comes through a pipe, is packed
/// or is binary (`--max-input`). Plain text files are mapped and may have any size.
pub const INPUT_BYTES_MAX: u64 = 1 << 32;

/// Bytes of a file that describes a machine; a larger one is taken for something else.
pub const MACHINE_BYTES_MAX: u64 = 1 << 20;

/// Most bytes of the segment that the ranks of a job share (`--max-segment`). Pages that nobody
/// touches cost nothing.
pub const SEGMENT_BYTES_MAX: u64 = 1 << 38;

/// Most bytes of memory of all ranks together that a run is compared with the interpreter's
/// (`--max-verified`).
pub const VERIFIED_BYTES_MAX: u64 = 1 << 32;

/// Most ranks that a job starts as processes or threads (`--max-started`).
pub const STARTED_RANKS_MAX: u32 = 8192;

/// Most records that a trace of a run keeps, all ranks together (`--trace-max`).
pub const TRACE_EVENTS_MAX: u64 = 1 << 24;

/// Most actions that the table of a window counts dependencies of before they are reached
/// (`--max-table`).
pub const TABLE_ENTRIES_MAX: usize = 1 << 22;

/// Most bytes of one action in a window: those of 800,000 pieces of a vector.
pub const WINDOW_ACTION_BYTES_MAX: usize = 1 << 24;

/// Most bytes of initial and expected values, of all ranks together, that are held where a schedule
/// is run through a window.
pub const WINDOW_IMAGES_BYTES_MAX: u64 = 1 << 30;

/// Syntax errors in one text after which the rest is not read.
pub const SYNTAX_ERRORS_MAX: u32 = 1000;

/// Most entries that the blocks of all ranks may have in all, where ranks have several (`rank *`
/// beside blocks of their own).
pub const BLOCK_ENTRIES_MAX: u64 = 1 << 28;

/// Most actions of a rank that is drawn as SVG: more, nobody can read, and graphviz takes what
/// `dot` writes.
pub const SVG_ACTIONS_MAX: usize = 500;

/// Most dependencies of a rank that is drawn as SVG.
pub const SVG_DEPENDENCIES_MAX: usize = 2000;

/// Edges that the search for a path between two actions may look at in all, beside
/// [`ORDER_STEPS_PER_EDGE`] for each edge and each action; one search looks at most at a 64th of
/// them.
pub const ORDER_STEPS_MAX: u64 = 1 << 20;

/// Edges that all searches for paths between actions may look at for each edge and each action of
/// the graph.
pub const ORDER_STEPS_PER_EDGE: u64 = 32;

/// Most ranges of bytes that the proof of a collective reads: a message of parts that came
/// separately counts once a part.
pub const FOLLOWED_RANGES_MAX: u64 = 1 << 25;

/// Most runs of ranks that the proof of a collective keeps of all combinations together; 24 bytes
/// each. Where there are more, it finds the ranks of each combination anew.
pub const KEPT_RUNS_MAX: usize = 1 << 24;

/// Most operands that it looks at in doing so.
pub const COUNTED_OPERANDS_MAX: u64 = 1 << 28;

/// Actions that the search through all orders of events looks at, state by state, unless `--effort`
/// asks for more. A state counts a quarter of the program's actions and what happens on the way to
/// it.
pub const SEARCH_STEPS_MAX: u64 = 1 << 23;

/// Ranges of bytes that the comparison of a rank's accesses to memory may look at in all, beside
/// [`RANGE_STEPS_PER_PIECE`] for each piece of a buffer.
pub const RANGE_STEPS_MAX: u64 = 1 << 20;

/// Ranges of bytes that the comparison of accesses to memory may look at for each piece of a
/// buffer.
pub const RANGE_STEPS_PER_PIECE: u64 = 64;

/// Most times that a program is checked again after fixes were put into its texts; a check tells of
/// at most 100 findings, and of fixes that do harm together some are tried without the others.
pub const FIX_CHECKS_MAX: usize = 256;

/// Limits on what a program may ask of the machine that reads it. Each is refused by name before
/// anything of that size is allocated; every binary has a flag for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most ranks of a program (`--max-ranks`).
    pub ranks_max: u32,
    /// Most bytes of one rank's memory (`--max-memory`).
    pub memory_bytes_max: u64,
    /// Most bytes of one rank's scratch memory (`--max-scratch`).
    pub scratch_bytes_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { ranks_max: 1 << 22, memory_bytes_max: 1 << 36, scratch_bytes_max: 1 << 36 }
    }
}
