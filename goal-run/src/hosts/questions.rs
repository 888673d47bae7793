//! Which questions of other hosts are answered: each once, and none too soon after the one before.
//!
//! Threat: anyone on the Ethernet can repeat the questions that it has recorded, of this run or of
//! earlier ones with the same key. It can't make new ones, nor change where they come from: both
//! are under the tag. The nonce of a run begins with its time, and the numbers of its questions
//! ascend. So of each host the last question that was heard is remembered, and one that is not
//! after it costs a look at a table and holds up nothing: from its first question on, a run has its
//! host's answers for itself. One of an earlier run may be genuine where a clock was set back. So
//! now and then one is answered, beside the others.

use goal_esp::wire::Mac;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The shortest time between two answers to one host: a host asks more rarely.
pub(super) const PAUSE_NS: u64 = 2_500_000;
/// The same while a job runs, which is when all of its hosts have been found, and between answers
/// to earlier runs of a host.
pub(super) const LONG_PAUSE_NS: u64 = 100_000_000;
/// Most hosts that are remembered.
const HOSTS_MAX: usize = 1024;

/// The state of a host that asks.
#[derive(Debug)]
struct Asker {
    /// The nonce of its latest run, and the highest number of the questions of that.
    latest: (u64, u32),
    /// When that is answered again at the earliest.
    next_ns: u64,
    /// The same of runs before.
    next_of_earlier_ns: u64,
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

    /// Returns the number of hosts that are remembered.
    #[cfg(test)]
    pub(super) fn hosts(&self) -> usize {
        self.askers.len()
    }

    /// Returns true if a proven question is to be answered.
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
