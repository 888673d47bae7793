//! The whole-program checks of a loaded program.

use super::{CheckOptions, Error, FLAGS, Loaded, Options};
use goal_check::check_into;

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
