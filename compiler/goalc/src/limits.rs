//! The limits on inputs, pictures and fixes.

/// Most bytes of an input that has to be held in memory because it comes through a pipe, is packed
/// or is binary (`--max-input`). Plain text files are mapped and may have any size.
pub(crate) const INPUT_BYTES_MAX: u64 = 1 << 32;

/// Most bytes of a file that describes a machine. A larger file is refused: it must be something
/// else.
pub(crate) const MACHINE_BYTES_MAX: u64 = 1 << 20;

/// Most actions that collective statements of all ranks become. One of them takes up to 100 bytes.
pub(crate) const EXPANDED_ACTIONS_MAX: u64 = 1 << 28;

/// Most actions of all members up to which an expanded collective is proved, as a multiple of
/// `--effort`.
pub(crate) const PROVED_ACTIONS_MAX: u64 = 1 << 20;

/// Most actions of all ranks in which the longest chains are looked for, with about 60 bytes each.
pub(crate) const STATS_ACTIONS_MAX: u64 = 1 << 27;

/// Most actions of a program whose findings `goalc draw` shows. The checks of more take too long.
pub(crate) const DRAWN_CHECKED_MAX: usize = 1 << 17;

/// Most times that a program is checked again after fixes were applied to its texts. A check
/// reports at most 100 findings; if fixes do harm together, some are tried without the others.
pub(crate) const FIX_CHECKS_MAX: usize = 256;
