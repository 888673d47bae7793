//! The descriptors that a test may open.

use crate::skipped;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit on open files of this process to the hard limit, and returns true if that is at
/// least `needed`. If it is less, says that `what` is skipped.
pub fn has_descriptors(needed: u64, what: &str) -> bool {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        // If this fails, the test tells.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    }
    let has_enough = limit.maximum.is_none_or(|most| most >= needed);
    if !has_enough {
        skipped(&format!("{what}: ulimit -Hn is below {needed}"));
    }
    has_enough
}
