//! What this machine lacks for a test bench.

use std::fmt;
use std::io::{self, Write};

/// What is missing, in words.
#[derive(Debug)]
pub struct Missing(String);

impl Missing {
    pub(crate) fn new(what: impl fmt::Display) -> Self {
        Self(what.to_string())
    }

    /// Says that a test is skipped, also where the test's output is kept back.
    pub fn tell(&self, test: &str) {
        // Where standard error is closed there is nobody to tell.
        let _ = writeln!(io::stderr(), "{test}: skipped: {self}");
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Missing {}
