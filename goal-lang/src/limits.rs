//! The limits on texts and programs, and the limits that the runtime is assumed to have.
//!
//! A crate with many limits has them in one file of this name. The limits of the binary form are in
//! `goal_asm::nisa::limits`. The runtime's limits are here because the checks and the engine must
//! assume equal ones, and both depend on this crate.

use std::fmt;

/// Largest rank number; `u32::MAX` is [`crate::ANY`].
pub const RANK_MAX: u32 = u32::MAX - 1;

/// Largest tag; `u32::MAX` is [`crate::ANY`].
pub const TAG_MAX: u32 = u32::MAX - 1;

/// Longest label in bytes.
pub const LABEL_BYTES_MAX: usize = u16::MAX as usize;

/// Number of syntax errors in one text after which the rest is not read.
pub const SYNTAX_ERRORS_MAX: u32 = 1000;

/// The most entries that are copied from blocks, over all ranks. Blocks are merged for ranks with
/// several blocks (`rank *` beside blocks of their own), and copied for ranks with relative peers.
pub const BLOCK_ENTRIES_MAX: u64 = 1 << 28;

/// Largest message in bytes that the runtime sends before its receive is posted, by default.
pub const EAGER_LIMIT: u64 = 16 << 10;

/// The most bytes of unexpected messages that a rank of the runtime keeps, by default.
pub const UNEXPECTED_LIMIT: u64 = 64 << 20;

/// The bytes that a kept unexpected message counts in addition to its payload.
pub const KEPT_OVERHEAD: u64 = 128;

/// Parses a number of bytes as command lines state it, with or without a unit: `K`, `M`, `G` or
/// `T`.
///
/// # Errors
/// Returns a text for the user if it is no number or exceeds 64 bits.
pub fn bytes(text: &str) -> Result<u64, &'static str> {
    let units = ['K', 'M', 'G', 'T'].into_iter().zip([10, 20, 30, 40]);
    let unit = text.chars().last().map(|last| last.to_ascii_uppercase());
    let (digits, shift) = match units.into_iter().find(|(letter, _)| Some(*letter) == unit) {
        Some((_, shift)) => (&text[..text.len() - 1], shift),
        None => (text, 0),
    };
    let number = digits.parse::<u64>();
    let number = number.map_err(|_| "give a number, with or without K, M, G or T behind it")?;
    number.checked_mul(1 << shift).ok_or("more than 2^64 bytes")
}

/// The limits on what a program may ask of the machine that reads it. An excess is refused with the
/// limit's name, before anything of that size is allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most ranks of a program.
    pub ranks_max: u32,
    /// Most bytes of one rank's memory.
    pub memory_bytes_max: u64,
    /// Most bytes of one rank's scratch memory.
    pub scratch_bytes_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { ranks_max: 1 << 22, memory_bytes_max: 1 << 36, scratch_bytes_max: 1 << 36 }
    }
}

/// One of the [`Limits`], or the width of a tag. A finding names the limit that it exceeds, and a
/// command line adds the flag that helps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// [`Limits::ranks_max`].
    Ranks,
    /// [`Limits::memory_bytes_max`].
    Memory,
    /// [`Limits::scratch_bytes_max`].
    Scratch,
    /// [`TAG_MAX`].
    Tag,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::Ranks => "ranks_max",
            Limit::Memory => "memory_bytes_max",
            Limit::Scratch => "scratch_bytes_max",
            Limit::Tag => "tag",
        })
    }
}
