//! The whole-program checks of a loaded program.

use super::{CheckOptions, Error, FLAGS, Findings, Loaded, Options, Ranks};
use crate::expand;
use crate::limits::DRAWN_CHECKED_MAX;
use goal_check::{CompactCheck, check_into};

/// Runs the checks of all ranks together, and adds their findings. If the options name a
/// collective, returns a sentence about what was proved of it.
///
/// # Errors
/// Returns all findings if there is an error among them, or a warning and warnings are denied.
pub fn check(loaded: &mut Loaded, options: &Options) -> Result<Option<String>, Error> {
    (options.on_stage)("checking");
    let Loaded { program, findings, .. } = loaded;
    let checks = CheckOptions { names: FLAGS, ..options.checks.clone() };
    let proved = check_into(program, Some(&findings.sources), &checks, &mut findings.report);
    let is_denied = options.deny_warnings && findings.report.warnings > 0;
    if findings.report.has_errors() || is_denied {
        return Err(std::mem::take(findings).into());
    }
    Ok(proved)
}

/// Checks a program for a picture, which shows findings and refuses nothing. Leaves out the checks
/// of a large program. Returns true if the program was checked.
pub fn check_for_picture(loaded: &mut Loaded, options: &Options) -> bool {
    let program = &loaded.program;
    let actions: usize = (0..program.num_ranks()).map(|rank| program.body_of(rank).len()).sum();
    if actions > DRAWN_CHECKED_MAX {
        return false;
    }
    if let Err(Error::Input(findings)) = check(loaded, options) {
        loaded.findings = *findings;
    }
    true
}

/// Checks a program as [`check`] does. A LogGOPSim binary in a plain file is read rank by rank
/// first, with a check that needs little memory. Only if that leaves a doubt, the program is held
/// in memory. Collectives that were expanded are proved. Returns the findings, and sentences about
/// what was proved.
///
/// # Errors
/// As [`check`], or an error if the program can't be read or held in memory.
pub fn check_ranks(mut ranks: Ranks, options: &Options) -> Result<(Findings, Vec<String>), Error> {
    let mut why = String::new();
    if ranks.is_streamed() && options.checks.collective.is_none() {
        (options.on_stage)("checking");
        match check_compactly(&mut ranks)? {
            Ok(()) => return Ok((ranks.findings, Vec::new())),
            Err(doubt) => why = doubt,
        }
    }
    let mut loaded = ranks.load(&why, options)?;
    let proved = prove(&mut loaded, options);
    let proved = proved.into_iter().chain(check(&mut loaded, options)?).collect();
    let findings = std::mem::take(&mut loaded.findings);
    // The process ends soon: freeing a large program's memory piece by piece would only take time.
    std::mem::forget(loaded);
    Ok((findings, proved))
}

/// Proves the collectives that were expanded. Returns a sentence about those that were proved.
fn prove(loaded: &mut Loaded, options: &Options) -> Option<String> {
    if loaded.expanded.programs.is_empty() {
        return None;
    }
    (options.on_stage)("proving");
    let checks = CheckOptions { names: FLAGS, collective: None, ..options.checks.clone() };
    let proofs = expand::prove(&loaded.expanded.programs, &checks);
    let sentence = proofs.sentence();
    loaded.findings.report.append(proofs.report);
    sentence
}

/// Returns if a program that is read from a file certainly has no findings, or the reason why that
/// is not known.
fn check_compactly(ranks: &mut Ranks) -> Result<Result<(), String>, Error> {
    let mut all = CompactCheck::with_capacity(ranks.num_actions()?);
    for rank in 0..ranks.num_ranks() {
        let added = ranks.with_records(rank, |records| {
            if records.num_collectives() > 0 {
                return Err(format!("rank {rank} has collective statements"));
            }
            all.begin_rank(rank);
            for at in 0..records.len() {
                let (action, missing) = (records.action(at), records.missing(at));
                all.push(&action, missing, records.waiters(at), records.start_waiters(at))
                    .map_err(|doubt| doubt.to_string())?;
            }
            all.end_rank().map_err(|doubt| doubt.to_string())
        })?;
        if let Err(doubt) = added {
            // The rest is checked for damage when it is read again.
            return Ok(Err(doubt));
        }
    }
    Ok(all.finish().map_err(|doubt| doubt.to_string()))
}
