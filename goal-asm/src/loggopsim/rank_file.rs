//! Reads a LogGOPSim binary one rank at a time, in any order. So a file may be larger than memory.
//!
//! The file may come from anywhere, and may change while it is read. The table of ranks is read
//! and checked once. The bytes of a rank are copied first, and only the copy is checked and used.

use super::file::ReadError;
use super::outline::Outline;
use super::rank::Scratch;
use super::read::has_second_form;
use super::records::RankRecords;
use super::{HEADER_SIZE, node};
use crate::nisa::ReadAt;
use goal_lang::limits::Limits;
use std::io;

/// A LogGOPSim binary that is read one rank at a time. It holds eight bytes for each rank, and the
/// bytes of the rank that was read last.
#[derive(Debug)]
pub struct RankFile<R> {
    source: R,
    outline: Outline,
    bytes: Vec<u8>,
    scratch: Scratch,
}

/// The reason why a rank can't be read.
#[derive(Debug, thiserror::Error)]
pub enum RankFileError {
    /// The file is a binary schedule of LogGOPSim2 (G2).
    #[error("this is a binary of LogGOPSim2 (G2), not of LogGOPSim")]
    SecondForm,
    /// The file is wrong.
    #[error(transparent)]
    Format(#[from] ReadError),
    /// The file could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl<R: ReadAt> RankFile<R> {
    /// Reads and checks what precedes the ranks.
    ///
    /// # Errors
    /// Returns an error if this is no LogGOPSim binary, if it is cut short or too long, or if it
    /// can't be read.
    pub fn open(source: R, limits: &Limits) -> Result<Self, RankFileError> {
        let size = source.size()?;
        let mut bytes = vec![0; size.min(HEADER_SIZE as u64) as usize];
        source.read_exact_at(&mut bytes, 0)?;
        bytes.resize(Outline::length(&bytes, size, limits)?, 0);
        source.read_exact_at(&mut bytes[HEADER_SIZE..], HEADER_SIZE as u64)?;
        let outline = Outline::new(&bytes, size)?;
        Ok(Self { source, outline, bytes: Vec::new(), scratch: Scratch::default() })
    }

    /// Returns the number of ranks.
    pub fn num_ranks(&self) -> u32 {
        self.outline.num_ranks()
    }

    /// Returns the number of bytes of the file.
    pub fn size(&self) -> u64 {
        self.outline.place(self.num_ranks() - 1).end as u64
    }

    /// Returns the number of operations that a rank states, or fewer if its bytes have no room for
    /// these.
    ///
    /// # Errors
    /// Returns an error if the file can't be read.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn num_actions(&self, rank: u32) -> Result<u32, RankFileError> {
        let mut count = [0; 4];
        let place = self.outline.place(rank);
        if place.len() < count.len() {
            return Ok(0);
        }
        self.source.read_exact_at(&mut count, place.start as u64)?;
        let room = u32::try_from(place.len() / node::LENGTH).unwrap_or(u32::MAX);
        Ok(u32::from_le_bytes(count).min(room))
    }

    /// Reads and checks a rank.
    ///
    /// # Errors
    /// Returns an error if the rank is wrong or can't be read.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn rank(&mut self, rank: u32) -> Result<RankRecords<'_>, RankFileError> {
        let place = self.outline.place(rank);
        self.bytes.resize(place.len(), 0);
        self.source.read_exact_at(&mut self.bytes, place.start as u64)?;
        let checked = self.outline.reader(rank, &self.bytes).check(&mut self.scratch);
        checked.map_err(|error| match error.limit() {
            None if has_second_form(&self.bytes) => RankFileError::SecondForm,
            _ => error.into(),
        })
    }
}
