//! Findings that the user has allowed, so that reports leave them out.

use super::{Code, Diagnostic};
use crate::source::Span;

/// Kinds of findings that are left out, everywhere or at some places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Silence {
    /// The codes of findings that are left out everywhere.
    pub codes: Vec<Code>,
    /// The codes of findings that are left out if one of their places begins in the span.
    pub places: Vec<(Code, Span)>,
}

impl Silence {
    /// Returns true if findings of this kind may be left out. Warnings may, and so may findings of
    /// the whole-program checks. Other errors may not, because the program can't be read past them.
    pub fn may_cover(code: Code) -> bool {
        code as u16 >= 300 || code.severity() == super::Severity::Warning
    }

    /// Returns true if some findings with `code` are left out.
    pub(super) fn concerns(&self, code: Code) -> bool {
        self.codes.contains(&code) || self.places.iter().any(|place| place.0 == code)
    }

    /// Returns true if the finding `found` is left out.
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
