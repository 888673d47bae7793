//! Compares what ranks computed with what the reference interpreter computes.
//!
//! The interpreter replays the recorded matching: it refuses one that no run can have, and computes
//! what the program means under it. So one comparison covers programs with one outcome and those
//! whose outcome depends on the order in which messages arrive.

use crate::job::has_time;
use crate::outcome::{End, Outcome};
use crate::rank::mismatch;
use goal_interp::{Options, replay};
use serde::Serialize;

/// What a comparison covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// Bytes of memory of all ranks that were compared.
    pub memory_bytes: u64,
    /// Receives whose message was one that the program allows.
    pub receives: u64,
}

/// Compares the memory and the matching of a complete job, of its last instance, with the
/// interpreter's.
///
/// # Errors
/// The first difference.
pub fn verify(outcome: &Outcome) -> Result<Verified, String> {
    let (program, matches) = (outcome.nisa().decode(), outcome.matches());
    let wanted = replay(&program, &Options::default(), &matches)
        .map_err(|error| format!("the interpreter does not come to this end: {error}"))?;
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
                return Err(format!(
                    "rank {rank}: address {addr} holds the byte {found}, the interpreter has {wanted}"
                ));
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
        Err(error) => return vec![format!("the interpreter does not come to this end: {error}")],
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
