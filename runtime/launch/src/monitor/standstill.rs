//! Finds out whether nothing moves among the ranks of a program, although some threads may still
//! act.
//!
//! A rank moves if a message arrives or leaves, a run ends, or a test makes progress. There is a
//! standstill if for a while no rank of the host has moved and no rank computes. A rank computes
//! unless it waits in a call or tests all the time without success. So a rank that tests only now
//! and then computes too.

use super::watch::read;
use goal_shm::Segment;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The counts of a rank that change whenever it moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Motion {
    positions: (u64, u64),
    sent: u64,
    taken: u64,
    moves: u64,
}

/// The observations of a rank since nothing has moved.
#[derive(Debug)]
struct Seen {
    rank: u32,
    motion: Motion,
    /// The number of the rank's tests without success, at the last look.
    tests: u64,
    /// The time of the look at which `tests` last changed, or of the first look.
    tested: Instant,
    /// True if the rank has tested without success all the time. After a longer time between two
    /// tests, the rank counts as computing.
    only_tests: bool,
    /// True if at some look the rank waited in a call and could do nothing.
    has_rested: bool,
}

/// The change that a look finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Nothing has moved for the whole period.
    Stands,
    /// Ranks move again after a reported standstill.
    Moves,
}

/// Detects that nothing moves on this host.
#[derive(Debug)]
pub(crate) struct Standstill {
    /// The time without a move after which a standstill is reported. It doubles with each report,
    /// so that a program that often stands still is reported less often.
    period: Duration,
    since: Instant,
    ranks: Vec<Seen>,
    is_reported: bool,
}

impl Standstill {
    pub(crate) fn new(period: Duration) -> Self {
        Self { period, since: Instant::now(), ranks: vec![], is_reported: false }
    }

    /// Returns the time of the last move that was seen.
    pub(crate) fn since(&self) -> Instant {
        self.since
    }

    /// Looks at the ranks of this host that take part in the job. Returns the change to report, if
    /// any.
    pub(crate) fn look(&mut self, segment: &Segment, ranks: &[u32]) -> Option<Change> {
        let is_same = self.ranks.len() == ranks.len()
            && ranks
                .iter()
                .zip(&self.ranks)
                .all(|(&rank, seen)| seen.rank == rank && seen.motion == motion(segment, rank));
        if !is_same {
            let seen = |&rank: &u32| Seen {
                rank,
                motion: motion(segment, rank),
                tests: segment.status(rank).process_state.vain_tests(),
                tested: Instant::now(),
                only_tests: true,
                has_rested: false,
            };
            self.ranks.clear();
            self.ranks.extend(ranks.iter().map(seen));
            self.since = Instant::now();
            return std::mem::take(&mut self.is_reported).then_some(Change::Moves);
        }
        for seen in &mut self.ranks {
            let process_state = &segment.status(seen.rank).process_state;
            seen.has_rested |= process_state.waits() && read(segment, seen.rank, false).is_some();
            let tests = process_state.vain_tests();
            if tests != seen.tests {
                (seen.tests, seen.tested) = (tests, Instant::now());
            }
            seen.only_tests &= seen.tested.elapsed() < self.period / 4;
        }
        if self.is_reported || self.since.elapsed() < self.period {
            return None;
        }
        let is_quiet = |seen: &Seen| seen.has_rested || seen.only_tests;
        if !self.ranks.iter().all(is_quiet) {
            return None;
        }
        self.is_reported = true;
        self.period *= 2;
        Some(Change::Stands)
    }
}

fn motion(segment: &Segment, rank: u32) -> Motion {
    let status = segment.status(rank);
    Motion {
        positions: segment.mailbox(rank).positions(),
        sent: status.remote_sent.load(Ordering::SeqCst),
        taken: status.remote_taken.load(Ordering::SeqCst),
        moves: status.process_state.moves(),
    }
}
