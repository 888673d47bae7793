//! Reads and writes LogGOPSim's binary schedules. `docs/interop.md` shows the layout.
//!
//! ```text
//!  0  magic              u64, 4223; offsets count from the byte behind it
//!  8  ranks              u32
//! 12  max cpu, max nic   u8 each: the highest number that an operation names
//! 14  table              ranks x { start u64, end u64 }
//!     per rank: nodes u32, roots u32, the roots' indices u32 each, the nodes' records,
//!               the appendix of u32 indices
//! ```

mod collective;
mod file;
mod operation;
mod outline;
mod rank;
mod rank_file;
mod rank_writer;
mod read;
mod records;
#[cfg(test)]
mod tests;
mod write;

pub use file::ReadError;
pub use operation::{Operation, OperationKind};
pub use rank_file::{RankFile, RankFileError};
pub use rank_writer::RankWriter;
pub use read::{Ranks, is_second_form, read};
pub use records::RankRecords;
pub use write::{Loss, WriteError, are_same, is_written_as, losses, write};

/// The magic number of a LogGOPSim binary, in its first eight bytes.
pub const MAGIC: u64 = 4223;
/// The magic number of a file that a simulation has changed to save memory.
pub const MAGIC_USED_UP: u64 = 2342;

/// The number of bytes before the table of ranks.
const HEADER_SIZE: usize = 14;
/// The number of bytes of a rank's entry in the table.
const ENTRY_SIZE: usize = 16;
/// The byte of the file that offsets count from: the first one behind the magic number.
const ORIGIN: usize = 8;

/// The places of the fields in the record of an operation. Fields are packed, without padding.
mod node {
    use std::ops::Range;

    pub(super) const DEPENDENCIES: Range<usize> = 0..4;
    pub(super) const TYPE: usize = 4;
    pub(super) const PEER: Range<usize> = 5..9;
    pub(super) const BYTES: Range<usize> = 9..17;
    pub(super) const TAG: Range<usize> = 17..21;
    pub(super) const CPU: usize = 21;
    pub(super) const NIC: usize = 22;
    pub(super) const DEPENDENTS: Range<usize> = 23..27;
    pub(super) const FIRST_DEPENDENT: Range<usize> = 27..31;
    pub(super) const START_DEPENDENTS: Range<usize> = 31..35;
    pub(super) const FIRST_START_DEPENDENT: Range<usize> = 35..39;
    pub(super) const LENGTH: usize = 39;

    pub(super) const SEND: u8 = 1;
    pub(super) const RECV: u8 = 2;
    pub(super) const CALC: u8 = 3;
}
