//! Finds connections to a host that is silent although bytes are under way to it. If no bytes are
//! under way, the system itself probes the peer (see [`sockets`](crate::sockets)).
//!
//! A rank that computes or is stopped takes no bytes, but its host acknowledges them, or answers
//! that there is no room. So only the host's silence counts. If a peer has had no room for long,
//! the system probes it ever more rarely, up to two minutes apart. Then the end of its host is
//! found only at the next probe. The launchers, which always take bytes, find the end of a host in
//! time.

use super::TcpFabric;
use crate::info;
use crate::limits::{LOOKS, UNANSWERED_NS_MAX};
use std::os::fd::AsFd;

impl TcpFabric {
    pub(super) fn silence_ns(&self) -> u64 {
        u64::from(self.conditions.silence_s.max(1)) * 1_000_000_000
    }

    /// Returns the time of the next look for silent hosts; `None` if there are no open connections.
    pub(super) fn look_ns(&self) -> Option<u64> {
        let attempts = self.asked.values().filter(|asked| asked.token.is_some()).count();
        let has_open = self.owners.len() > self.callers + attempts;
        has_open.then(|| self.looked_ns + self.silence_ns() / LOOKS)
    }

    /// Looks at all open connections. A connection is lost if its host was silent at all looks
    /// during three quarters of the limit. The silence may have begun right after the look before
    /// these, so the whole limit may be over. A rank that waits for a processor looks late, and its
    /// system may be late too. So a minimum number of looks is required, besides the time.
    pub(super) fn look_for_silence(&mut self, now_ns: u64) {
        let since_ns = now_ns - self.looked_ns;
        self.looked_ns = now_ns;
        let limit_ns = (self.silence_ns() / 4 * 3).max(UNANSWERED_NS_MAX);
        let mut silent = vec![];
        for (rank, connection) in (0..).zip(&mut self.connections) {
            let Some(connection) = connection else { continue };
            let awaited = info::read(connection.channel.as_fd())
                .filter(|info| info.awaits_host && info.heard_before_ns >= since_ns);
            let (began_ns, looks) = connection.silent.unwrap_or((now_ns, 0));
            connection.silent = awaited.map(|_| (began_ns, looks + 1));
            if awaited.is_some() && began_ns + limit_ns <= now_ns && looks >= LOOKS / 4 * 3 {
                silent.push(rank);
            }
        }
        for rank in silent {
            let address = self.addresses[rank as usize];
            self.lose(
                rank,
                format!("{address} was not heard of for {} s", self.conditions.silence_s),
            );
        }
    }
}
