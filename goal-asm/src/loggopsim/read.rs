//! Reads a LogGOPSim binary, rank by rank or as a program.
//!
//! A LogGOPSim binary may come from anywhere. Every offset, count and index is checked before it is
//! used, and no more is allocated than the file holds. No byte is read for two ranks or two lists
//! of dependents, so time and memory are linear in the file. Bytes without a meaning are refused:
//! the file is damaged, or it is of another kind.

use super::file::{File, Result};
use super::node;
use super::outline::Outline;
use super::rank::{Census, Scratch};
use super::records::RankRecords;
use goal_lang::limits::Limits;
use goal_lang::{BodyId, Program, ProgramBuilder};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The ranks that a thread checks at a time.
const RANKS_PER_PART: u32 = 64;

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
    let outline = Outline::of_bytes(bytes, limits)?;
    for rank in 0..outline.num_ranks() {
        let range = outline.place(rank);
        // Only one body is kept for each hash. If hashes collide, equal ranks may get bodies of
        // their own, but no time is lost.
        let hash = hash(&bytes[range.clone()]);
        if let Some((body, same)) = known.get(&hash)
            && bytes[same.clone()] == bytes[range.clone()]
        {
            program.rank(*body, None);
            continue;
        }
        let reader = outline.reader(rank, &bytes[range.clone()]);
        let body = program.body(reader.check(&mut scratch)?.body());
        program.rank(body, None);
        if known.len() == KNOWN_MAX {
            known.clear();
        }
        known.insert(hash, (body, range));
    }
    Ok(program.finish())
}

/// The lengths of an operation's record in two versions of LogGOPSim2's binary form. Its magic
/// number and its table are those of LogGOPSim.
const SECOND_LENGTHS: [u64; 2] = [56, 104];
/// The highest type of an operation in that form.
const SECOND_TYPE_MAX: u8 = 12;

/// Returns true if the bytes are laid out as a binary schedule of LogGOPSim2 (G2), which [`read`]
/// refuses.
pub fn is_second_form(bytes: &[u8], limits: &Limits) -> bool {
    let Ok(outline) = Outline::of_bytes(bytes, limits) else { return false };
    SECOND_LENGTHS.iter().any(|&length| {
        let mut ranks = (0..outline.num_ranks()).map(|rank| &bytes[outline.place(rank)]);
        ranks.all(|rank| is_second_rank(rank, length))
    })
}

/// Returns true if the bytes of a rank are laid out as those of LogGOPSim2.
pub(super) fn has_second_form(rank: &[u8]) -> bool {
    SECOND_LENGTHS.iter().any(|&length| is_second_rank(rank, length))
}

/// Returns true if a rank's operations can have records of `length` bytes.
fn is_second_rank(rank: &[u8], length: u64) -> bool {
    if rank.len() < 8 {
        return false;
    }
    let (nodes, roots) = (File(rank).u32(0), File(rank).u32(4));
    let first = 8 + 4 * u64::from(roots);
    let appendix = first + length * u64::from(nodes);
    let fits = roots <= nodes
        && appendix <= rank.len() as u64
        && (rank.len() as u64 - appendix).is_multiple_of(4);
    fits && (0..u64::from(nodes)).all(|index| {
        let kind = rank[(first + length * index) as usize + node::TYPE];
        (1..=SECOND_TYPE_MAX).contains(&kind)
    })
}

/// The ranks of a LogGOPSim binary that was checked, as they lie in the file.
#[derive(Debug)]
pub struct Ranks<'a> {
    bytes: &'a [u8],
    outline: Outline,
    census: Census,
}

impl<'a> Ranks<'a> {
    /// Checks a LogGOPSim binary. A pool of rayon's shares the work if the caller runs in one.
    ///
    /// # Errors
    /// As [`read`].
    pub fn check(bytes: &'a [u8], limits: &Limits) -> Result<Self> {
        let outline = Outline::of_bytes(bytes, limits)?;
        let ranks = outline.num_ranks();
        let (markers, collectives) = (AtomicU64::new(0), AtomicU64::new(0));
        let check = |scratch: &mut Scratch, rank| match outline
            .reader(rank, &bytes[outline.place(rank)])
            .check_all(scratch)
        {
            Err(error) => Some(error),
            Ok((_, found)) => {
                if found.markers > 0 {
                    markers.fetch_add(found.markers, Relaxed);
                }
                if found.collectives > 0 {
                    collectives.fetch_add(found.collectives, Relaxed);
                }
                None
            }
        };
        let error = match rayon::current_thread_index() {
            None => {
                let mut scratch = Scratch::default();
                (0..ranks).find_map(|rank| check(&mut scratch, rank))
            }
            Some(_) => {
                let parts = (0..ranks.div_ceil(RANKS_PER_PART)).into_par_iter();
                parts
                    .map_init(Scratch::default, |scratch, part| {
                        let first = part * RANKS_PER_PART;
                        let end = first.saturating_add(RANKS_PER_PART).min(ranks);
                        (first..end).find_map(|rank| check(scratch, rank))
                    })
                    .find_map_first(|error| error)
            }
        };
        match error {
            Some(error) => Err(error),
            None => {
                let census =
                    Census { markers: markers.into_inner(), collectives: collectives.into_inner() };
                Ok(Self { bytes, outline, census })
            }
        }
    }

    /// Returns true if there are markers.
    pub fn has_markers(&self) -> bool {
        self.census.markers > 0
    }

    /// Returns the number of collective statements. They are dummies among the operations.
    pub fn num_collectives(&self) -> u64 {
        self.census.collectives
    }

    /// Returns the number of ranks.
    pub fn num_ranks(&self) -> u32 {
        self.outline.num_ranks()
    }

    /// Returns a rank.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn rank(&self, rank: u32) -> RankRecords<'a> {
        RankRecords::of_checked(&self.bytes[self.outline.place(rank)], self.num_ranks())
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    bytes.hash(&mut hasher);
    hasher.finish()
}
