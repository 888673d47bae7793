//! Which questions of other hosts are answered: each once, and none too soon after the one before.
//!
//! Threat: anyone on the Ethernet can repeat the questions that it has recorded, of this run or of earlier ones with the same key.
//! It can't make new ones, nor change where they come from: both are under the tag. A question that was heard before costs a look
//! at a table. One of an earlier run is answered once, and at most one in [`PAUSE_NS`] of each host is. The numbers of a run's
//! questions ascend, so what its host really asks stays new. The tables are bounded.

use goal_esp::wire::Mac;
use std::collections::{BTreeMap, VecDeque};

/// The shortest time between two answers to one host: a host asks more rarely.
pub(super) const PAUSE_NS: u64 = 2_500_000;
/// The same while a job runs, which is when all of its hosts have been found.
const RUNNING_PAUSE_NS: u64 = 100_000_000;
/// Most runs of a host that are remembered.
const RUNS_MAX: usize = 16;
/// Most hosts that are remembered.
const HOSTS_MAX: usize = 1024;

/// A run of another host's launcher.
#[derive(Debug, Clone, Copy)]
struct Run {
    /// The nonce of its questions.
    nonce: u64,
    /// The highest number of those that were heard.
    number: u32,
}

/// What is known of a host that asks.
#[derive(Debug, Default)]
struct Asker {
    /// Its runs. The one that asked something new last is at the end.
    runs: VecDeque<Run>,
    /// When it is answered again at the earliest.
    next_ns: u64,
}

/// The questions that were heard.
#[derive(Debug, Default)]
pub(super) struct Questions {
    askers: BTreeMap<Mac, Asker>,
    is_running: bool,
}

impl Questions {
    /// The job runs: what is asked from now on is for others, or old.
    pub(super) fn begin(&mut self) {
        self.is_running = true;
    }

    /// How many hosts are remembered.
    #[cfg(test)]
    pub(super) fn hosts(&self) -> usize {
        self.askers.len()
    }

    /// Returns true if a proven question is to be answered.
    pub(super) fn is_due(&mut self, now_ns: u64, from: Mac, nonce: u64, number: u32) -> bool {
        if self.askers.len() >= HOSTS_MAX && !self.askers.contains_key(&from) {
            let oldest = self.askers.iter().min_by_key(|(_, asker)| asker.next_ns).map(|(&mac, _)| mac);
            self.askers.remove(&oldest.unwrap_or(from));
        }
        let asker = self.askers.entry(from).or_default();
        let known = asker.runs.iter().position(|run| run.nonce == nonce);
        if let Some(at) = known {
            let is_new = number.wrapping_sub(asker.runs[at].number) as i32 > 0;
            if !is_new {
                return false;
            }
            asker.runs.remove(at);
        } else if asker.runs.len() == RUNS_MAX {
            asker.runs.pop_front();
        }
        asker.runs.push_back(Run { nonce, number });
        if now_ns < asker.next_ns {
            return false;
        }
        asker.next_ns = now_ns + if self.is_running { RUNNING_PAUSE_NS } else { PAUSE_NS };
        true
    }
}
