//! Counts the ranks that are members of a job that grows.

use super::segment::Segment;

impl Segment {
    /// Returns the number of ranks that are members of the job. A rank that waits to be accepted
    /// does not count, nor does one that ended before it was accepted. Ranks that have left count:
    /// they took part, and have come to their end.
    pub fn num_members(&self) -> u32 {
        let added = self.num_started()..self.num_ranks();
        let others = added.filter(|&rank| !self.status(rank).member_state.is_member());
        self.num_ranks() - others.count() as u32
    }
}
