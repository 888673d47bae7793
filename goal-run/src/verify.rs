//! Compares the results of a run with those of the reference interpreter.
//!
//! The interpreter replays the recorded matching. It refuses a matching that no run can have, and
//! computes the memory that follows from it. So programs whose outcome depends on the order in
//! which messages arrive are compared as well.

use crate::job::has_time;
use crate::outcome::{End, Outcome};
use crate::rank::mismatch;
use goal_interp::{Options, replay};
use serde::Serialize;

/// The extent of a comparison that found no difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// The number of bytes of memory that were compared, of all ranks together.
    pub memory_bytes: u64,
    /// The number of receives whose message the program allows.
    pub receives: u64,
}

/// A difference between a run and the interpreter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    /// The interpreter refuses the matching, or does not complete with it; the text says why.
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

/// Compares the memory and the matching of the last instance of a complete job with those of the
/// interpreter.
///
/// # Errors
/// The first difference.
pub fn verify(outcome: &Outcome) -> Result<Verified, Difference> {
    let (program, matches) = (outcome.nisa().decode(), outcome.matches());
    let wanted = replay(&program, &Options::default(), &matches)
        .map_err(|error| Difference::Replay(error.to_string()))?;
    let mut verified = Verified { memory_bytes: 0, receives: matches.receives.len() as u64 };
    for (rank, wanted_bytes) in (0..).zip(&wanted.memory) {
        let found = outcome.memory(rank);
        let unspecified = &wanted.unspecified[rank as usize];
        for (addr, (wanted, found)) in wanted_bytes.iter().zip(&found).enumerate() {
            if unspecified.get(addr).is_some_and(|&unspecified| unspecified) {
                continue;
            }
            verified.memory_bytes += 1;
            if wanted != found {
                let (addr, found, wanted) = (addr as u64, *found, *wanted);
                return Err(Difference::Memory { rank, addr, found, wanted });
            }
        }
    }
    Ok(verified)
}

/// Returns one text a rank whose memory is not as the program expects it after the last instance,
/// if the job is complete and the ranks have not compared it: which elements derive from the clock
/// is known to the interpreter only. It takes as long as a run of the interpreter.
pub fn unmet(outcome: &Outcome) -> Vec<String> {
    if outcome.end != End::Complete || !has_time(outcome.nisa()) {
        return vec![];
    }
    let program = outcome.nisa().decode();
    let wanted = match replay(&program, &Options::default(), &outcome.matches()) {
        Ok(wanted) => wanted,
        Err(error) => return vec![Difference::Replay(error.to_string()).to_string()],
    };
    let memory: Vec<Vec<u8>> = (0..program.num_ranks()).map(|rank| outcome.memory(rank)).collect();
    let mut texts: Vec<String> = Vec::new();
    let mut last = None;
    for wrong in goal_interp::mismatches(&program, &memory, &wanted.unspecified) {
        let text = mismatch(wrong.addr, wrong.datatype, &wrong.wanted, &wrong.found);
        match texts.last_mut() {
            Some(of_rank) if last == Some(wrong.rank) => of_rank.push_str(&format!("; {text}")),
            _ => texts.push(format!("rank {}: {text}", wrong.rank)),
        }
        last = Some(wrong.rank);
    }
    texts
}
