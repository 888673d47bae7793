//! Whole-program checks of what was loaded.

use super::{Error, Loaded, Options};

/// Adds to the findings what is wrong with a program that only all ranks together show.
///
/// # Errors
/// All findings, where there is an error among them, or a warning and these are denied.
pub fn check(loaded: &mut Loaded, options: &Options) -> Result<(), Error> {
    (options.on_stage)("checking");
    let Loaded { program, findings, .. } = loaded;
    let found = goal_opt::check::check(program, Some(&findings.sources), &options.checks);
    findings.report.append(found);
    let is_denied = options.deny_warnings && findings.report.warnings > 0;
    if findings.report.has_errors() || is_denied {
        return Err(std::mem::take(findings).into());
    }
    Ok(())
}
