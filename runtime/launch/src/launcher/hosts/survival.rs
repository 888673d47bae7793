//! Notes losses and suspicions, and decides which ranks are lost. The leader does this in a job
//! that goes on without them.

use crate::launcher::losses::QuiescentState;
use goal_job::host::Host;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The time that the host of a suspected rank has to tell why others can't reach it. Its reason
/// says more.
const GRACE: Duration = Duration::from_secs(1);

/// The state of a job that goes on after losses.
#[derive(Debug, Default)]
pub(super) struct Survival {
    /// The hosts whose ranks use no messages any more, with the states of these.
    pub(super) stands: BTreeMap<Host, QuiescentState>,
    /// The ranks that suspect another one, with the suspect and the time of the suspicion.
    suspicions: BTreeMap<u32, (u32, Instant)>,
    /// Losses that no host knows yet.
    pub(super) new: Vec<(u32, String)>,
}

impl Survival {
    /// Notes a loss.
    pub(super) fn lose(&mut self, rank: u32, how: String) {
        self.new.push((rank, how));
    }

    /// Notes that the rank `by` suspects `rank`, which it can't reach any more. Its first suspicion
    /// counts.
    pub(super) fn suspect(&mut self, by: u32, rank: u32) {
        self.suspicions.entry(by).or_insert((rank, Instant::now()));
    }

    /// Forgets all suspicions.
    pub(super) fn clear_suspicions(&mut self) {
        self.suspicions.clear();
    }

    /// Returns the ranks that are lost because others suspect them, each with one of these. It
    /// decides on all suspicions at once, when the first of them has waited for long enough. Both
    /// ranks of a broken connection suspect each other, and one of them is to stay. So the rank
    /// that most others suspect, of several the highest, is lost first, and its own suspicion with
    /// it. A suspicion by or of a rank that has no part any more does not count.
    pub(super) fn unreachable(&mut self, has_part: impl Fn(u32) -> bool) -> Vec<(u32, u32)> {
        self.suspicions.retain(|&by, &mut (rank, _)| has_part(by) && has_part(rank));
        if !self.suspicions.values().any(|(_, since)| since.elapsed() >= GRACE) {
            return vec![];
        }
        let mut lost = vec![];
        while let Some(next) = most_suspected(&self.suspicions) {
            lost.push(next);
            self.suspicions.retain(|&by, &mut (rank, _)| by != next.0 && rank != next.0);
        }
        lost
    }

    /// Notes that no rank of a host uses messages any more.
    pub(super) fn stand(&mut self, host: Host, stand: QuiescentState) {
        self.stands.insert(host, stand);
    }

    /// Forgets a host that is lost.
    pub(super) fn forget(&mut self, host: Host) {
        self.stands.remove(&host);
    }
}

/// Returns the rank that most others suspect, of several the highest, with the first of these.
fn most_suspected(suspicions: &BTreeMap<u32, (u32, Instant)>) -> Option<(u32, u32)> {
    let mut accusers: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (&by, &(rank, _)) in suspicions {
        accusers.entry(rank).or_default().push(by);
    }
    let (rank, by) = accusers.into_iter().max_by_key(|(_, by)| by.len())?;
    Some((rank, by[0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the ranks that are lost by these suspicions, all of them old enough.
    fn lost(words: &[(u32, u32)], gone: &[u32]) -> Vec<(u32, u32)> {
        let since = Instant::now().checked_sub(GRACE).unwrap();
        let suspicions = words.iter().map(|&(by, rank)| (by, (rank, since))).collect();
        let mut survival = Survival { suspicions, ..Survival::default() };
        let lost = survival.unreachable(|rank| !gone.contains(&rank));
        assert_eq!(survival.unreachable(|_| true), [], "the decision is made once");
        lost
    }

    #[test]
    fn a_word_counts_after_a_while() {
        let mut survival = Survival::default();
        survival.suspect(1, 2);
        assert_eq!(survival.unreachable(|_| true), []);
        assert_eq!(lost(&[(1, 2)], &[]), [(2, 1)]);
    }

    #[test]
    fn one_rank_of_a_broken_connection_stays() {
        assert_eq!(lost(&[(2, 5), (5, 2)], &[]), [(5, 2)]);
        assert_eq!(lost(&[(5, 2), (2, 5)], &[]), [(5, 2)]);
        // Rank 2 has lost its connections with all others.
        assert_eq!(lost(&[(2, 5), (5, 2), (0, 2)], &[]), [(2, 0)]);
        // Two connections.
        assert_eq!(lost(&[(2, 5), (1, 0), (5, 2), (0, 1)], &[]), [(5, 2), (1, 0)]);
        // Rank 5 is lost, and its suspicion with it.
        assert_eq!(lost(&[(7, 5), (5, 2)], &[]), [(5, 7)]);
    }

    #[test]
    fn ranks_without_a_part_neither_suspect_nor_are_suspected() {
        assert_eq!(lost(&[(5, 2), (3, 5)], &[5]), []);
        assert_eq!(lost(&[(5, 2), (3, 5), (1, 2)], &[5]), [(2, 1)]);
    }
}
