//! The leader's knowledge of losses, in a job that goes on without the ranks that are lost.

use crate::launcher::losses::QuiescentState;
use goal_job::host::Host;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The time that the host of a rank has to tell why others can't reach it. Its reason says more.
const GRACE: Duration = Duration::from_secs(1);

/// The state of a job that goes on after losses.
#[derive(Debug, Default)]
pub(super) struct Survival {
    /// The hosts whose ranks use no messages any more, with what these do.
    pub(super) stands: BTreeMap<Host, QuiescentState>,
    /// The ranks that can't reach another one, with that one and the time of their word.
    accusations: BTreeMap<u32, (u32, Instant)>,
    /// Losses that no host knows yet.
    pub(super) new: Vec<(u32, String)>,
}

impl Survival {
    /// Notes a loss.
    pub(super) fn lose(&mut self, rank: u32, how: String) {
        self.new.push((rank, how));
    }

    /// Notes that the rank `by` can't reach `rank` any more. Its first word counts.
    pub(super) fn suspect(&mut self, by: u32, rank: u32) {
        self.accusations.entry(by).or_insert((rank, Instant::now()));
    }

    /// Forgets what ranks have said of others.
    pub(super) fn acquit(&mut self) {
        self.accusations.clear();
    }

    /// Returns the ranks that are lost because others can't reach them, each with one of these. It
    /// decides on all words at once, when the first of them has waited for long enough: both ranks
    /// of a broken connection say that they can't reach the other, and one of them is to stay. So
    /// the rank that most others can't reach, of several the highest, is lost first, and its own
    /// word with it. A word by or on a rank that has no part any more does not count.
    pub(super) fn unreachable(&mut self, has_part: impl Fn(u32) -> bool) -> Vec<(u32, u32)> {
        self.accusations.retain(|&by, &mut (rank, _)| has_part(by) && has_part(rank));
        if !self.accusations.values().any(|(_, since)| since.elapsed() >= GRACE) {
            return vec![];
        }
        let mut lost = vec![];
        while let Some(next) = most_accused(&self.accusations) {
            lost.push(next);
            self.accusations.retain(|&by, &mut (rank, _)| by != next.0 && rank != next.0);
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

/// Returns the rank that most others can't reach, of several the highest, with the first of these.
fn most_accused(accusations: &BTreeMap<u32, (u32, Instant)>) -> Option<(u32, u32)> {
    let mut accusers: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (&by, &(rank, _)) in accusations {
        accusers.entry(rank).or_default().push(by);
    }
    let (rank, by) = accusers.into_iter().max_by_key(|(_, by)| by.len())?;
    Some((rank, by[0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the ranks that are lost by these words, all of them old enough.
    fn lost(words: &[(u32, u32)], gone: &[u32]) -> Vec<(u32, u32)> {
        let since = Instant::now().checked_sub(GRACE).unwrap();
        let accusations = words.iter().map(|&(by, rank)| (by, (rank, since))).collect();
        let mut survival = Survival { accusations, ..Survival::default() };
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
        // Rank 2 has lost its way to all others.
        assert_eq!(lost(&[(2, 5), (5, 2), (0, 2)], &[]), [(2, 0)]);
        // Two connections.
        assert_eq!(lost(&[(2, 5), (1, 0), (5, 2), (0, 1)], &[]), [(5, 2), (1, 0)]);
        // The word of a rank that is lost.
        assert_eq!(lost(&[(7, 5), (5, 2)], &[]), [(5, 7)]);
    }

    #[test]
    fn ranks_without_a_part_neither_accuse_nor_are_accused() {
        assert_eq!(lost(&[(5, 2), (3, 5)], &[5]), []);
        assert_eq!(lost(&[(5, 2), (3, 5), (1, 2)], &[5]), [(2, 1)]);
    }
}
