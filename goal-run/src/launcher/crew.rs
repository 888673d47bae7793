//! The ranks of a host as their launcher sees and steers them from outside.

use crate::monitor::Stopped;

/// A rank that ended by itself.
#[derive(Debug)]
pub(super) enum Fallen {
    /// It could not start; why.
    NotStarted(u32, String),
    /// It had started; how it ended.
    Ended(u32, String),
}

/// The ranks of a host.
pub(super) trait Crew {
    /// A rank that ended by itself.
    fn fallen(&mut self) -> Option<Fallen>;

    /// Returns the number of ranks that were started.
    fn started(&self) -> usize;

    /// The ranks that somebody has stopped, ascending.
    fn stopped(&mut self) -> Vec<Stopped>;

    /// Stops all ranks that nobody else has stopped.
    fn suspend(&mut self);

    /// Lets those go on that [`Crew::suspend`] has stopped.
    fn resume(&mut self);
}
