//! Reads a LogGOPSim binary, rank by rank or as a program.
//!
//! A LogGOPSim binary may come from anywhere. Every offset, count and index is checked before it is
//! used, and no more is allocated than the file holds. No byte is read for two ranks or two lists
//! of dependents, so time and memory are linear in the file. Bytes without a meaning are refused:
//! the file is damaged, or it is of another kind.

use super::file::{File, ReadError, Result, error};
use super::rank::{RankReader, RankRecords, Scratch};
use super::{ENTRY_SIZE, HEADER_SIZE, MAGIC, MAGIC_USED_UP, ORIGIN};
use goal_lang::limits::{Limit, Limits};
use goal_lang::{BodyId, Placement, Program, ProgramBuilder};
use rustc_hash::FxHashMap;
use std::hash::{Hash, Hasher};
use std::ops::Range;

/// The most bodies that the reader remembers, so that ranks with equal bytes share a body. When it
/// has this many, it forgets them all: in a file with more different ranks few share a body.
const KNOWN_MAX: usize = 1 << 16;

/// Reads a LogGOPSim binary. Ranks with equal bytes share a body. If the file lists dependents and
/// roots in another order than the graph, the body's [`StatedOrder`](goal_lang::StatedOrder) keeps
/// the file's order.
///
/// # Errors
/// Returns an error if the file is cut short or too long, if an index, peer, type or count is
/// wrong, or if operations wait for each other.
pub fn read(bytes: &[u8], limits: &Limits) -> Result<Program> {
    let mut program = ProgramBuilder::default();
    let mut scratch = Scratch::default();
    // For each hash of a rank's bytes: the rank's body, and the place of the bytes in the file.
    let mut known: FxHashMap<u64, (BodyId, Range<usize>)> = FxHashMap::default();
    visit(bytes, limits, |reader, range| {
        // Only one body is kept for each hash. If hashes collide, equal ranks may get bodies of
        // their own, but no time is lost.
        let hash = hash(&bytes[range.clone()]);
        if let Some((body, same)) = known.get(&hash)
            && bytes[same.clone()] == bytes[range.clone()]
        {
            program.rank(*body, None);
            return Ok(());
        }
        let body = program.body(reader.check(range.clone(), &mut scratch)?.body());
        program.rank(body, None);
        if known.len() == KNOWN_MAX {
            known.clear();
        }
        known.insert(hash, (body, range));
        Ok(())
    })?;
    Ok(program.finish())
}

/// Checks a LogGOPSim binary, and calls `visit_rank` with each rank as it lies in the file.
///
/// # Errors
/// As [`read`].
pub fn visit_ranks(
    bytes: &[u8],
    limits: &Limits,
    mut visit_rank: impl FnMut(RankRecords<'_>),
) -> Result<()> {
    let mut scratch = Scratch::default();
    visit(bytes, limits, |reader, range| {
        visit_rank(reader.check(range, &mut scratch)?);
        Ok(())
    })
}

/// Checks what precedes the ranks, and calls `visit_rank` with the place of each of them.
fn visit<'a>(
    bytes: &'a [u8],
    limits: &Limits,
    mut visit_rank: impl FnMut(RankReader<'a>, Range<usize>) -> Result<()>,
) -> Result<()> {
    let file = File(bytes);
    if bytes.starts_with(&MAGIC_USED_UP.to_le_bytes()) {
        return error(0, "a simulation with --save-mem has used this LogGOPSim binary up");
    }
    if bytes.len() < HEADER_SIZE || file.u64(0) != MAGIC {
        return error(0, "this is not a LogGOPSim binary");
    }
    let ranks = file.u32(8);
    if ranks == 0 {
        return error(8, "a file of no ranks: a group has at least one");
    }
    if ranks > limits.ranks_max {
        let message = format!("{ranks} ranks, and the limit is {}", limits.ranks_max);
        return Err(ReadError { message, offset: 8, limit: Some(Limit::Ranks) });
    }
    let table_end = HEADER_SIZE as u64 + ENTRY_SIZE as u64 * u64::from(ranks);
    if table_end > bytes.len() as u64 {
        return error(8, format!("the file is too short for {ranks} ranks"));
    }
    let placement_max = Placement { cpu: bytes[12], nic: bytes[13] };
    // The end of the previous rank. Ranks lie end to end.
    let mut before = table_end;
    for rank in 0..ranks {
        let range = place(file, rank, before)?;
        before = range.end as u64;
        visit_rank(RankReader { file, rank, ranks, placement_max }, range)?;
    }
    if before < bytes.len() as u64 {
        let more = bytes.len() as u64 - before;
        return error(before as usize, format!("{more} bytes follow the last rank"));
    }
    Ok(())
}

/// Returns the place of a rank in the file. The rank must begin at byte `before`.
fn place(file: File<'_>, rank: u32, before: u64) -> Result<Range<usize>> {
    let entry = HEADER_SIZE + ENTRY_SIZE * rank as usize;
    let [start, end] = [entry, entry + 8].map(|at| file.u64(at).saturating_add(ORIGIN as u64));
    if start < before || end < start || end > file.0.len() as u64 {
        return error(
            entry,
            format!("rank {rank} lies at bytes {start} to {end}, out of order or outside the file"),
        );
    }
    if start > before {
        let gap = start - before;
        return error(before as usize, format!("{gap} bytes before rank {rank} belong to no rank"));
    }
    Ok(start as usize..end as usize)
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    bytes.hash(&mut hasher);
    hasher.finish()
}
