//! Compares the results of a run with those of the reference interpreter.
//!
//! The interpreter replays the recorded matching. It refuses a matching that no run can have, and
//! computes the memory that follows from it. So programs whose outcome depends on the order in
//! which messages arrive are compared as well.

use goal_interp::{Matches, Options, Taken, replay};
use goal_job::has_time;
use goal_launch::report::{Difference, Verified};
use goal_launch::{End, MatchKind, Outcome};
use goal_rank::schedule::mismatch;

/// Returns the recorded matching in the form of the interpreter.
fn matches(outcome: &Outcome) -> Matches {
    let mut matches = Matches::default();
    for found in outcome.matches() {
        let (vertex, sequence) = ((found.rank, found.action), found.sequence);
        match found.kind {
            MatchKind::Send => drop(matches.sends.insert(vertex, sequence)),
            MatchKind::Receive { source } => {
                matches.receives.insert(vertex, Taken { source, sequence });
            }
        }
    }
    matches
}

/// Compares the last instance of a complete job with the interpreter. Both must have the same
/// memory, except for bytes that the interpreter leaves unspecified. The interpreter must allow the
/// matching.
///
/// # Errors
/// The first difference.
pub fn verify(outcome: &Outcome) -> Result<Verified, Difference> {
    let (program, matches) = (outcome.nisa().decode(), matches(outcome));
    let wanted = replay(&program, &Options::default(), &matches)
        .map_err(|error| Difference::Replay(error.to_string()))?;
    let mut verified = Verified { memory_bytes: 0, receives: matches.receives.len() as u64 };
    for (rank, wanted_bytes) in (0..).zip(&wanted.memory) {
        let found = outcome.memory(rank);
        let unspecified = &wanted.unspecified[rank as usize];
        let is_unspecified = |addr: usize| unspecified.get(addr).is_some_and(|&is_it| is_it);
        let len = wanted_bytes.len().min(found.len());
        // Most runs have no difference, and whole slices are compared fastest.
        if wanted_bytes[..len] != found[..len] {
            let differs =
                |&addr: &usize| !is_unspecified(addr) && wanted_bytes[addr] != found[addr];
            if let Some(addr) = (0..len).find(differs) {
                let (found, wanted) = (found[addr], wanted_bytes[addr]);
                return Err(Difference::Memory { rank, addr: addr as u64, found, wanted });
            }
        }
        let left_out = unspecified.iter().take(len).filter(|&&is_it| is_it).count();
        verified.memory_bytes += (len - left_out) as u64;
    }
    Ok(verified)
}

/// Returns a text for each rank whose memory differs from what the program expects after the last
/// instance. Returns none unless the job is complete and the program reads the clock. In other
/// programs the ranks have compared their memory themselves. Only the interpreter knows which
/// elements derive from the clock, so this takes as long as its run.
pub fn unmet(outcome: &Outcome) -> Vec<String> {
    if outcome.end != End::Complete || !has_time(outcome.nisa()) {
        return vec![];
    }
    let program = outcome.nisa().decode();
    let wanted = match replay(&program, &Options::default(), &matches(outcome)) {
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
