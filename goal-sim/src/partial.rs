//! Finds the latest ends in a program that gets stuck.

use goal_loggops::Workload;
use goal_loggops::machine::Machine;
use goal_loggops::model::{Observer, simulate_with};

/// The ends of a rank's actions.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ended {
    /// The latest end in picoseconds. `None` without one.
    pub(crate) finish_ps: Option<u64>,
    /// The actions that have ended.
    pub(crate) actions: u32,
}

struct Ends(Vec<Ended>);

impl Observer for Ends {
    fn end(&mut self, rank: u32, _action: u32, time: u64) {
        let ended = &mut self.0[rank as usize];
        ended.finish_ps = ended.finish_ps.max(Some(time));
        ended.actions += 1;
    }
}

/// Simulates a program that gets stuck, and returns what ends of each rank.
pub(crate) fn ended(workload: &Workload, machine: &Machine) -> Vec<Ended> {
    let mut ends = Ends(vec![Ended::default(); workload.num_ranks()]);
    // The caller knows how the run ends.
    let _ = simulate_with(workload, machine, &(), &mut ends);
    ends.0
}
