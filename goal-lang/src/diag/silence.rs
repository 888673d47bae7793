//! Findings that the user has allowed, so that reports leave them out.

use super::{Code, Diagnostic};
use crate::source::Span;

/// Kinds of findings that are left out, everywhere or at some places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Silence {
    /// Left out everywhere.
    pub codes: Vec<Code>,
    /// Left out if one of their places begins in the span.
    pub places: Vec<(Code, Span)>,
}

impl Silence {
    /// Returns true if findings of this kind may be left out: warnings, and findings of the
    /// whole-program checks. Errors of the language may not, because the program can't be read past
    /// them.
    pub fn may_cover(code: Code) -> bool {
        code as u16 >= 300 || code.severity() == super::Severity::Warning
    }

    /// Returns true if some findings of this kind are left out.
    pub(super) fn concerns(&self, code: Code) -> bool {
        self.codes.contains(&code) || self.places.iter().any(|place| place.0 == code)
    }

    /// Returns true if this finding is left out.
    pub(super) fn covers(&self, found: &Diagnostic) -> bool {
        let is_there = |span: &Span| {
            found
                .labels
                .iter()
                .any(|label| span.start <= label.span.start && label.span.start < span.end)
        };
        self.codes.contains(&found.code)
            || self.places.iter().any(|(code, span)| *code == found.code && is_there(span))
    }
}
