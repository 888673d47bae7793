//! Decides which questions of other hosts are answered. A question of a host's latest run is
//! answered at most once, and not too soon after the last answer to this run.
//!
//! Threat: anyone on the Ethernet can repeat recorded questions, of this run or of earlier runs
//! with the same key. Nobody without the key can make new questions or change their sender, as the
//! tag covers both. The nonce of a run begins with its start time, and the numbers of its questions
//! ascend. So a table has the last question of each host, and older questions of the same run are
//! ignored. A question of an earlier run may be genuine if the clock of its host was set back. So
//! such questions are answered too, but rarely. They do not delay answers to the latest run.

use goal_esp::wire::Mac;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The shortest time between two answers to one host, in nanoseconds. Hosts ask less often.
pub(super) const PAUSE_NS: u64 = 2_500_000;
/// The shortest time between two answers to one host while a job runs, as all of its hosts have
/// been found. It also holds for questions of earlier runs of a host. In nanoseconds.
pub(super) const LONG_PAUSE_NS: u64 = 100_000_000;
/// The most hosts that are remembered.
const HOSTS_MAX: usize = 1024;

/// The record of a host that asks.
#[derive(Debug)]
struct Asker {
    /// The nonce of the host's latest run, and the highest number of a question of that run.
    latest: (u64, u32),
    /// The earliest time of the next answer to the latest run.
    next_ns: u64,
    /// The earliest time of the next answer to earlier runs.
    next_of_earlier_ns: u64,
}

/// The questions that arrived so far.
#[derive(Debug, Default)]
pub(super) struct Questions {
    askers: BTreeMap<Mac, Asker>,
    is_running: bool,
}

impl Questions {
    /// Notes that the job runs. Later questions are not for it, so they are answered less often.
    pub(super) fn begin(&mut self) {
        self.is_running = true;
    }

    /// Returns the number of hosts that are remembered.
    #[cfg(test)]
    pub(super) fn hosts(&self) -> usize {
        self.askers.len()
    }

    /// Returns true if an authenticated question of the host `from` must be answered.
    pub(super) fn is_due(&mut self, now_ns: u64, from: Mac, nonce: u64, number: u32) -> bool {
        let pause_ns = if self.is_running { LONG_PAUSE_NS } else { PAUSE_NS };
        let Some(asker) = self.askers.get_mut(&from) else {
            if self.askers.len() == HOSTS_MAX {
                let oldest =
                    self.askers.iter().min_by_key(|(_, asker)| asker.next_ns).map(|(&mac, _)| mac);
                self.askers.remove(&oldest.unwrap_or(from));
            }
            let asker = Asker {
                latest: (nonce, number),
                next_ns: now_ns + pause_ns,
                next_of_earlier_ns: now_ns,
            };
            self.askers.insert(from, asker);
            return true;
        };
        let (next_ns, pause_ns) = match nonce.cmp(&asker.latest.0) {
            Ordering::Less => (&mut asker.next_of_earlier_ns, LONG_PAUSE_NS),
            Ordering::Equal if number.wrapping_sub(asker.latest.1) as i32 <= 0 => return false,
            Ordering::Equal | Ordering::Greater => {
                asker.latest = (nonce, number);
                (&mut asker.next_ns, pause_ns)
            }
        };
        let is_due = now_ns >= *next_ns;
        if is_due {
            *next_ns = now_ns + pause_ns;
        }
        is_due
    }
}
