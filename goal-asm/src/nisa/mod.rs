//! NISA, the Network Instruction Set Architecture: the binary form of a schedule (paper III.C).
//!
//! One table of instructions determines the whole format. [`encode`] writes a file, [`Nisa::load`]
//! verifies it, [`Section`] reads verified bytes in place, and [`Nisa::decode`] returns the
//! program. `docs/nisa.md` documents every byte.

mod bytes;
mod chunk;
mod container;
mod decode;
mod encode;
mod encode_ranks;
mod error;
mod file;
mod instruction;
mod layout;
pub mod limits;
mod names;
mod operation;
mod outline;
mod parts;
mod plan;
mod read_at;
mod reader;
mod section;
mod stream;
#[cfg(test)]
mod tests;
mod verify;
mod write;

pub use chunk::{Chunk, SectionPlace, StreamLimits};
pub use container::MAGIC;
pub use encode_ranks::encode_ranks;
pub use error::{EncodeError, StreamError, VerifyError};
pub use file::{Image, Nisa, SectionDebug, Value, Values};
pub use layout::reseal;
pub use operation::{Buffer, Operation, PieceList};
pub use outline::Outline;
pub use read_at::ReadAt;
pub use section::{Offsets, Record, Section};
pub use stream::{SectionStream, Streamed};
pub use write::{EncodeOptions, encode};
