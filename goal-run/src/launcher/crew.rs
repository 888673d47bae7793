//! The ranks of this host as their launcher watches and controls them.

use crate::monitor::Stopped;

/// A rank that ended although the job had not.
#[derive(Debug)]
pub(super) enum Fallen {
    /// The rank could not start; the text says why.
    NotStarted(u32, String),
    /// The rank ended after it had started; the text says how.
    Ended(u32, String),
}

/// The processes or threads of this host's ranks.
pub(super) trait Crew {
    /// Returns a rank that has ended although the job has not, if there is one.
    fn fallen(&mut self) -> Option<Fallen>;

    /// Returns the number of ranks that were started.
    fn started(&self) -> usize;

    /// Returns the ranks that another process has stopped, ascending.
    fn stopped(&mut self) -> Vec<Stopped>;

    /// Stops all ranks that are not stopped already.
    fn suspend(&mut self);

    /// Continues the ranks that [`Crew::suspend`] stopped.
    fn resume(&mut self);
}
