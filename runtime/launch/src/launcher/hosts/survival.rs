//! Collects losses and suspicions of ranks, and decides which ranks are lost. The leader does this
//! in a job that goes on without lost ranks.

use crate::launcher::losses::QuiescentState;
use goal_job::host::Host;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The time for which a suspicion waits. Meanwhile the host of the suspected rank may report why
/// others can't reach it, which says more.
const GRACE: Duration = Duration::from_secs(1);

/// The leader's notes on losses.
#[derive(Debug, Default)]
pub(super) struct Survival {
    /// The hosts on which no rank uses messages any more, with their quiescent states.
    pub(super) stands: BTreeMap<Host, QuiescentState>,
    /// The rank that another rank suspects, and the time of the suspicion, by the rank that
    /// suspects.
    suspicions: BTreeMap<u32, (u32, Instant)>,
    /// The losses that hosts have not been told yet: the rank, and how it was lost.
    pub(super) new: Vec<(u32, String)>,
}

impl Survival {
    /// Notes a loss.
    pub(super) fn lose(&mut self, rank: u32, how: String) {
        self.new.push((rank, how));
    }

    /// Notes that the rank `by` can't reach `rank` any more. Later suspicions of `by` are ignored.
    pub(super) fn suspect(&mut self, by: u32, rank: u32) {
        self.suspicions.entry(by).or_insert((rank, Instant::now()));
    }

    /// Forgets all suspicions.
    pub(super) fn clear_suspicions(&mut self) {
        self.suspicions.clear();
    }

    /// Returns the ranks that are lost because others suspect them, each with a rank that suspects
    /// it. Returns none until the oldest suspicion is [`GRACE`] old; then all suspicions are
    /// decided at once.
    ///
    /// Both ranks of a broken connection suspect each other, and one of them should stay. So the
    /// rank that most others suspect is lost first. If there are several, the highest of them is
    /// lost first. The suspicion that a lost rank has itself is dropped. A suspicion does not count
    /// if `has_part` is false for one of its two ranks.
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

    /// Notes that no rank of `host` uses messages any more.
    pub(super) fn stand(&mut self, host: Host, stand: QuiescentState) {
        self.stands.insert(host, stand);
    }

    /// Forgets a host that is lost.
    pub(super) fn forget(&mut self, host: Host) {
        self.stands.remove(&host);
    }
}

/// Returns the rank that most others suspect, and the lowest rank that suspects it. Of several such
/// ranks it is the highest one.
fn most_suspected(suspicions: &BTreeMap<u32, (u32, Instant)>) -> Option<(u32, u32)> {
    let mut suspected_by: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (&by, &(rank, _)) in suspicions {
        suspected_by.entry(rank).or_default().push(by);
    }
    let (rank, by) = suspected_by.into_iter().max_by_key(|(_, by)| by.len())?;
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
