//! The leader's knowledge of losses, in a job that goes on without the ranks that are lost.

use crate::host::Host;
use crate::launcher::losses::Stand;
use std::collections::BTreeMap;
use std::time::Instant;

/// The state of a job that goes on after losses.
#[derive(Debug, Default)]
pub(super) struct Survival {
    /// The hosts whose ranks use no messages any more, with what these do.
    pub(super) stands: BTreeMap<Host, Stand>,
    /// The ranks that others can't reach: which one said so first, and when.
    pub(super) unreachable: BTreeMap<u32, (u32, Instant)>,
    /// Losses that no host knows yet.
    pub(super) new: Vec<(u32, String)>,
}

impl Survival {
    /// Notes a loss.
    pub(super) fn lose(&mut self, rank: u32, how: String) {
        self.new.push((rank, how));
    }

    /// Notes that the rank `by` can't reach `rank` any more.
    pub(super) fn accuse(&mut self, by: u32, rank: u32) {
        self.unreachable.entry(rank).or_insert((by, Instant::now()));
    }

    /// Notes that no rank of a host uses messages any more.
    pub(super) fn stand(&mut self, host: Host, stand: Stand) {
        self.stands.insert(host, stand);
    }

    /// Forgets a host that is lost.
    pub(super) fn forget(&mut self, host: Host) {
        self.stands.remove(&host);
    }
}
