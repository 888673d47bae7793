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
use crate::limits::{LOOKS, SILENCE_NS_MIN};
use std::os::fd::AsFd;

/// Returns the silence, in nanoseconds, after which a host is lost, for a limit of `silence_ns`.
fn lost_after_ns(silence_ns: u64) -> u64 {
    (silence_ns / 4 * 3).max(SILENCE_NS_MIN)
}

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
    /// these, so the whole limit may be over. A limit of one second is too short for this: a host
    /// may leave a probe without an answer for nearly as long ([`SILENCE_NS_MIN`]).
    ///
    /// A rank that waits for a processor looks late, and its system may be late too. So a minimum
    /// number of looks is required, besides the time.
    pub(super) fn look_for_silence(&mut self, now_ns: u64) {
        let since_ns = now_ns - self.looked_ns;
        self.looked_ns = now_ns;
        let limit_ns = lost_after_ns(self.silence_ns());
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

#[cfg(test)]
mod tests {
    use super::lost_after_ns;

    #[test]
    fn a_probe_without_an_answer_is_no_loss() {
        let lost_after = [1, 2, 10].map(|silence_s| lost_after_ns(silence_s * 1_000_000_000));
        assert_eq!(lost_after, [1_250_000_000, 1_500_000_000, 7_500_000_000]);
    }
}
