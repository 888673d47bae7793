//! Reports on ranks whose schedule is in the kernel. Their actions leave nothing in the segment. So
//! the launcher of each host reads in its kernel what its ranks wait for, and writes a text into
//! their failure records.

use super::pending::{Pending, Stopped};
use super::snapshot::Observed;
use goal_shm::State;
use std::sync::atomic::Ordering;

impl Pending {
    /// Returns the report on `ranks`. The ranks in `stopped` were stopped by a signal.
    pub(super) fn of_kernel(observed: &Observed<'_>, ranks: &[u32], stopped: Vec<Stopped>) -> Self {
        Self::of_programs(ranks, |rank| describe(observed, rank), stopped)
    }
}

/// Returns a text on what a rank does, from its status.
fn describe(observed: &Observed<'_>, rank: u32) -> String {
    let (status, repeat) = (observed.segment.status(rank), observed.settings.spec.repeat);
    let of = match repeat {
        1 => String::new(),
        _ => format!(" in instance {} of {repeat}", status.instance.load(Ordering::SeqCst)),
    };
    match status.state() {
        State::Starting => format!("rank {rank} had not started"),
        State::Done => format!("rank {rank} had ended"),
        State::Failed => format!("rank {rank} had failed{of}"),
        State::Running | State::Idle => {
            let waits = observed.segment.failure(rank).map(|waits| format!(": {waits}"));
            format!(
                "rank {rank} waited for its schedule in the kernel{of}{}",
                waits.unwrap_or_default()
            )
        }
    }
}
