//! Holds the result of a comparison of a run with the reference interpreter.

use serde::Serialize;

/// The extent of a comparison that found no difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// The number of bytes of memory that were compared, of all ranks together.
    pub memory_bytes: u64,
    /// The number of receives that took a message that the program allows.
    pub receives: u64,
}

/// A difference between a run and the interpreter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    /// The interpreter refuses the matching of the run, or can't complete with it. The text says
    /// why.
    #[error("the interpreter does not come to this end: {0}")]
    Replay(String),
    /// A byte of memory differs.
    #[error("rank {rank}: address {addr} holds the byte {found}, the interpreter has {wanted}")]
    Memory {
        /// The rank.
        rank: u32,
        /// The address of the byte.
        addr: u64,
        /// The byte of the run.
        found: u8,
        /// The byte of the interpreter.
        wanted: u8,
    },
}
