//! The verifier's error.

use goal_lang::diag::{Code, Diagnostic};
use goal_lang::limits::Limit;
use std::fmt;

/// The reason why bytes are not a valid NISA file. One word large.
#[derive(Debug)]
pub struct VerifyError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    code: Code,
    offset: u64,
    message: String,
    limit: Option<Limit>,
}

impl VerifyError {
    #[cold]
    pub(super) fn new(code: Code, offset: u64, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { code, offset, message: message.into(), limit: None }))
    }

    /// The error about a file that asks, at `offset`, for more than its reader allows.
    #[cold]
    pub(super) fn limit(limit: Limit, offset: u64, message: String) -> Self {
        let (code, limit) = (Code::NisaLimit, Some(limit));
        Self(Box::new(Inner { code, offset, message, limit }))
    }

    /// The code of the finding.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The byte of the file at which it was found.
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// Returns the error as a diagnostic without a place in a text.
    pub fn diagnostic(&self) -> Diagnostic {
        let diagnostic = Diagnostic::new(self.0.code, self.to_string());
        if let Some(limit) = self.0.limit {
            return diagnostic.limit(limit);
        }
        match self.0.code {
            Code::NisaVersion => {
                diagnostic.help("build the schedule again with this version of goalc")
            }
            _ => diagnostic.help("build the schedule again from its text"),
        }
    }
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {:#x} of the file)", self.0.message, self.0.offset)
    }
}

impl std::error::Error for VerifyError {}
