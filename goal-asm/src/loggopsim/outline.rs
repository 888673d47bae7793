//! The header and the table of a LogGOPSim binary: the number of its ranks and their places.

use super::file::{File, ReadError, Result, error};
use super::rank::RankReader;
use super::{ENTRY_SIZE, HEADER_SIZE, MAGIC, MAGIC_USED_UP, ORIGIN};
use goal_lang::Placement;
use goal_lang::limits::{Limit, Limits};
use std::ops::Range;

/// The places of all ranks, which were checked.
#[derive(Debug)]
pub(super) struct Outline {
    /// The end of the table, and the end of each rank. Ranks lie end to end.
    ends: Vec<usize>,
    /// The highest cpu and the highest nic that the header states.
    placement_max: Placement,
}

impl Outline {
    /// Checks what precedes the ranks of a whole file.
    pub(super) fn of_bytes(bytes: &[u8], limits: &Limits) -> Result<Self> {
        let header = &bytes[..bytes.len().min(HEADER_SIZE)];
        let length = Self::length(header, bytes.len() as u64, limits)?;
        Self::new(&bytes[..length], bytes.len() as u64)
    }

    /// Checks the first [`HEADER_SIZE`] bytes of a file of `size` bytes, or all if it has fewer.
    /// Returns the number of bytes before the first rank.
    pub(super) fn length(header: &[u8], size: u64, limits: &Limits) -> Result<usize> {
        if header.starts_with(&MAGIC_USED_UP.to_le_bytes()) {
            return error(0, "a simulation with --save-mem has used this LogGOPSim binary up");
        }
        if header.len() < HEADER_SIZE || File(header).u64(0) != MAGIC {
            return error(0, "this is not a LogGOPSim binary");
        }
        let ranks = File(header).u32(8);
        if ranks == 0 {
            return error(8, "a file of no ranks: a group has at least one");
        }
        if ranks > limits.ranks_max {
            let message = format!("{ranks} ranks, and the limit is {}", limits.ranks_max);
            return Err(ReadError { message, offset: 8, limit: Some(Limit::Ranks) });
        }
        let length = HEADER_SIZE as u64 + ENTRY_SIZE as u64 * u64::from(ranks);
        if length > size {
            return error(8, format!("the file is too short for {ranks} ranks"));
        }
        Ok(length as usize)
    }

    /// Checks the table of ranks in the bytes before the first rank of a file of `size` bytes.
    pub(super) fn new(bytes: &[u8], size: u64) -> Result<Self> {
        let (file, ranks) = (File(bytes), File(bytes).u32(8));
        let mut ends = Vec::with_capacity(ranks as usize + 1);
        let mut before = bytes.len() as u64;
        ends.push(bytes.len());
        for rank in 0..ranks {
            before = end(file, rank, before, size)?;
            ends.push(before as usize);
        }
        if before < size {
            let more = size - before;
            return error(before as usize, format!("{more} bytes follow the last rank"));
        }
        Ok(Self { ends, placement_max: Placement { cpu: bytes[12].into(), nic: bytes[13] } })
    }

    #[inline]
    pub(super) fn num_ranks(&self) -> u32 {
        self.ends.len() as u32 - 1
    }

    /// Returns the place of a rank in the file.
    #[inline]
    pub(super) fn place(&self, rank: u32) -> Range<usize> {
        self.ends[rank as usize]..self.ends[rank as usize + 1]
    }

    /// Returns what checks the bytes of a rank.
    pub(super) fn reader<'a>(&self, rank: u32, bytes: &'a [u8]) -> RankReader<'a> {
        RankReader {
            file: File(bytes),
            start: self.place(rank).start,
            rank,
            ranks: self.num_ranks(),
            placement_max: self.placement_max,
        }
    }
}

/// Returns the end of a rank, which must begin at byte `before`.
fn end(file: File<'_>, rank: u32, before: u64, size: u64) -> Result<u64> {
    let entry = HEADER_SIZE + ENTRY_SIZE * rank as usize;
    let [start, end] = [entry, entry + 8].map(|at| file.u64(at).saturating_add(ORIGIN as u64));
    if start < before || end < start || end > size {
        return error(
            entry,
            format!("rank {rank} lies at bytes {start} to {end}, out of order or outside the file"),
        );
    }
    if start > before {
        let gap = start - before;
        return error(before as usize, format!("{gap} bytes before rank {rank} belong to no rank"));
    }
    Ok(end)
}
