//! Defines the deadline of an operation, from the time that a caller gives it.

use std::time::{Duration, Instant};

/// A deadline: a point in time, and the time that the caller gave.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    /// The point in time; `None` if it is so far away that the clock can't express it.
    at: Option<Instant>,
    pub(crate) wait: Duration,
}

impl Deadline {
    pub(crate) fn after(wait: Duration) -> Self {
        Self { at: Instant::now().checked_add(wait), wait }
    }

    /// Returns the time that is left; zero if the deadline has passed.
    pub(crate) fn left(&self) -> Duration {
        self.at.map_or(Duration::MAX, |at| at.saturating_duration_since(Instant::now()))
    }
}
