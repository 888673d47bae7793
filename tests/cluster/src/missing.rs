//! Defines the error if this machine can't create a test bench.

use goal_filetest::skipped;
use std::fmt;

/// A description of what this machine lacks.
#[derive(Debug)]
pub struct Missing(String);

impl Missing {
    pub(crate) fn new(what: impl fmt::Display) -> Self {
        Self(what.to_string())
    }

    /// Prints that a test is skipped, as [`skipped`] does.
    pub fn report(&self, test: &str) {
        skipped(&format!("{test}: {self}"));
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Missing {}
