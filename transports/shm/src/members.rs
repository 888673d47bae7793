//! The ranks of a job that grows which belong to it.

use super::segment::Segment;

impl Segment {
    /// Returns the number of ranks that belong to the job: all but those that wait to be accepted,
    /// and those that ended before they were. Ranks that have left belong to it, since they have
    /// come to their end.
    pub fn num_members(&self) -> u32 {
        let added = self.num_started()..self.num_ranks();
        let others = added.filter(|&rank| !self.status(rank).membership.is_member());
        self.num_ranks() - others.count() as u32
    }
}
