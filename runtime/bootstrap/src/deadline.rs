//! The end of the time that a caller gives an operation.

use std::time::{Duration, Instant};

/// A point in time, and the time that was given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    /// `None` if the time is so long that the clock can't express its end.
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
