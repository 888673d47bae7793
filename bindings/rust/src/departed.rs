//! Refuses communicators with a rank that has left the job.

use crate::communicator::Communicator;
use crate::error::{Error, ErrorCode, Result};
use goal_rank::program::Attached;

impl Communicator {
    /// Checks that no rank of the communicator has left the job.
    ///
    /// # Errors
    /// [`ErrorCode::Rank`] if some rank has left. The text names the first such rank.
    pub(crate) fn refuse_left(&self, attached: &Attached) -> Result<()> {
        if !attached.have_left() {
            return Ok(());
        }
        let in_job = |rank| self.in_group(rank).expect("a rank of it");
        let Some(rank) = (0..self.size()).find(|&rank| attached.has_left(in_job(rank))) else {
            return Ok(());
        };
        let text = format!(
            "rank {rank} of the communicator (rank {} of the job) has left (GOAL_Leave): make a communicator without it (GOAL_Comm_create)",
            in_job(rank)
        );
        Err(Error::new(ErrorCode::Rank, text))
    }
}
