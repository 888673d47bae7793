//! The error of a test bench that this machine cannot create.

use std::fmt;
use std::io::{self, Write};

/// A description of what is missing.
#[derive(Debug)]
pub struct Missing(String);

impl Missing {
    pub(crate) fn new(what: impl fmt::Display) -> Self {
        Self(what.to_string())
    }

    /// Prints that a test is skipped. The line is visible even if the test's output is captured.
    pub fn report(&self, test: &str) {
        // If standard error is closed, the line is lost.
        let _ = writeln!(io::stderr(), "{test}: skipped: {self}");
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Missing {}
