//! Whole-program checks of what was loaded.

use super::{CheckOptions, Error, FLAGS, Loaded, Options};
use goal_check::check_into;

/// Adds to the findings what is wrong with a program that only all ranks together show. Returns
/// what was proved of the collective that it is meant to be, where that is asked.
///
/// # Errors
/// All findings, where there is an error among them, or a warning and these are denied.
pub fn check(loaded: &mut Loaded, options: &Options) -> Result<Option<String>, Error> {
    (options.on_stage)("checking");
    let Loaded { program, findings, .. } = loaded;
    let checks = CheckOptions { names: FLAGS, ..options.checks };
    let proved = check_into(program, Some(&findings.sources), &checks, &mut findings.report);
    let is_denied = options.deny_warnings && findings.report.warnings > 0;
    if findings.report.has_errors() || is_denied {
        return Err(std::mem::take(findings).into());
    }
    Ok(proved)
}
