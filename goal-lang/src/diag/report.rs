//! Reports: all findings about an input are counted, and a bounded number is kept.

use super::{Code, Diagnostic, Severity, Silence};

/// Most findings that a report keeps; more are only counted.
const KEPT_MAX: usize = 100;

/// The findings about an input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The findings, at most 100; warnings only where errors leave room.
    pub diagnostics: Vec<Diagnostic>,
    /// Number of errors, kept or not.
    pub errors: u64,
    /// Number of warnings, kept or not.
    pub warnings: u64,
    /// The findings that are neither kept nor counted.
    silence: Silence,
}

impl Report {
    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if !self.silence.covers(&diagnostic) {
            self.count(diagnostic.severity(), || diagnostic);
        }
    }

    /// Adds a finding with `code`. Calls `describe` only if the finding is kept, or if the report's
    /// silence may cover it.
    pub fn add(&mut self, code: Code, describe: impl FnOnce() -> Diagnostic) {
        if self.silence.concerns(code) {
            self.push(describe());
        } else {
            self.count(code.severity(), describe);
        }
    }

    fn count(&mut self, severity: Severity, describe: impl FnOnce() -> Diagnostic) {
        match severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
        }
        if self.makes_room(severity) {
            self.diagnostics.push(describe());
        }
    }

    /// Removes the findings that `silence` covers, and ignores such findings from now on.
    pub fn silence(&mut self, silence: Silence) {
        self.silence = silence;
        let (silence, errors, warnings) = (&self.silence, &mut self.errors, &mut self.warnings);
        self.diagnostics.retain(|found| {
            let is_covered = silence.covers(found);
            match found.severity() {
                _ if !is_covered => {}
                Severity::Error => *errors -= 1,
                Severity::Warning => *warnings -= 1,
            }
            !is_covered
        });
    }

    /// Adds all findings of another report.
    pub fn append(&mut self, other: Report) {
        self.errors += other.errors;
        self.warnings += other.warnings;
        for diagnostic in other.diagnostics {
            if self.silence.covers(&diagnostic) {
                match diagnostic.severity() {
                    Severity::Error => self.errors -= 1,
                    Severity::Warning => self.warnings -= 1,
                }
            } else if self.makes_room(diagnostic.severity()) {
                self.diagnostics.push(diagnostic);
            }
        }
    }

    /// Returns true if another finding can be kept. A warning is dropped to make room for an error.
    fn makes_room(&mut self, severity: Severity) -> bool {
        if self.diagnostics.len() < KEPT_MAX {
            return true;
        }
        let is_warning = |kept: &Diagnostic| kept.severity() == Severity::Warning;
        match self.diagnostics.iter().rposition(is_warning) {
            Some(last) if severity == Severity::Error => {
                self.diagnostics.remove(last);
                true
            }
            _ => false,
        }
    }

    /// Returns an empty report that leaves out the same findings as this one: the same kinds,
    /// everywhere or at the same places.
    pub fn silent(&self) -> Report {
        Report { silence: self.silence.clone(), ..Report::default() }
    }

    /// Returns true if there is an error, so that the input cannot be used.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Returns true if there is no finding.
    pub fn is_empty(&self) -> bool {
        self.errors == 0 && self.warnings == 0
    }

    /// Puts the findings in the order of the text.
    pub(crate) fn sort(&mut self) {
        self.diagnostics
            .sort_by_key(|diagnostic| diagnostic.labels.first().map(|label| label.span));
    }
}
