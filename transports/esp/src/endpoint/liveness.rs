//! Decides when a peer is asked for a sign of life, and when it counts as dead.
//!
//! Only authenticated frames count as signs of life. A peer that answers slowly is given more time,
//! and time in which this end did not run is not counted.

use super::config::Timing;

/// A peer gets this multiple of its longest recent silence before it counts as dead.
const LULLS_MAX: u64 = 4;
/// A peer never gets more than this multiple of [`Timing::dead_ns`] before it counts as dead.
const PATIENCE_MAX: u64 = 5;
/// The least number of times that a silent peer is asked before it counts as dead. If three of ten
/// frames are lost, half of the requests stay without an answer. But all of 16 requests do so only
/// once in 50,000 silences.
const PROBES_MIN: u64 = 16;

/// The signs of life of a peer.
#[derive(Debug)]
pub(super) struct Liveness {
    /// The time in nanoseconds of the last sign of life. It is moved on by the time in which this
    /// end did not run.
    heard_ns: u64,
    /// The longest recent silence in nanoseconds after a sign of life was requested. The value
    /// decays.
    lull_ns: u64,
    /// The time at which the next sign of life is requested (`probe_at_ns`), and the number of
    /// unanswered requests (`probes`).
    probe_at_ns: u64,
    probes: u32,
}

impl Liveness {
    pub(super) fn new(now_ns: u64) -> Self {
        Self { heard_ns: now_ns, lull_ns: 0, probe_at_ns: u64::MAX, probes: 0 }
    }

    /// Starts again with a new connection: the time before it says nothing about the peer.
    pub(super) fn restart(&mut self, now_ns: u64) {
        (self.heard_ns, self.lull_ns) = (now_ns, 0);
    }

    /// Notes a sign of life.
    pub(super) fn note_sign(&mut self, now_ns: u64, timing: &Timing) {
        let silent_ns = now_ns.saturating_sub(self.heard_ns);
        let lull_ns = silent_ns.saturating_sub(timing.probe_ns);
        self.lull_ns = lull_ns.max(self.lull_ns.saturating_sub(silent_ns / LULLS_MAX));
        self.heard_ns = now_ns;
        self.probe_at_ns = now_ns + timing.probe_ns;
        self.probes = 0;
    }

    /// Excuses the peer for the time by which a request is late. During this time the endpoint was
    /// busy or had no processor, so it did not look for frames of the peer.
    pub(super) fn forgive_delay(&mut self, now_ns: u64) {
        self.heard_ns += now_ns.saturating_sub(self.probe_at_ns);
    }

    /// Returns the time at which the next sign of life is requested.
    pub(super) fn probe_at_ns(&self) -> u64 {
        self.probe_at_ns
    }

    /// Returns true if a sign of life must be requested.
    pub(super) fn is_probe_due(&self, now_ns: u64) -> bool {
        self.probe_at_ns <= now_ns
    }

    /// Notes that a sign of life was requested.
    pub(super) fn note_probe(&mut self, now_ns: u64, timing: &Timing) {
        let Timing { probe_ns, probe_again_ns, dead_ns, retransmit_min_ns, .. } = *timing;
        let share_ns = dead_ns.saturating_sub(probe_ns) / PROBES_MIN;
        let interval_max_ns = probe_ns.min(share_ns.max(retransmit_min_ns));
        let interval_ns =
            probe_again_ns.saturating_mul(1 << self.probes.min(20)).min(interval_max_ns);
        self.probe_at_ns = now_ns + interval_ns;
        self.probes += 1;
    }

    /// Returns the time at which the peer counts as dead, if it stays silent.
    pub(super) fn dead_at_ns(&self, timing: &Timing) -> u64 {
        let patience_ns = (LULLS_MAX * self.lull_ns).min(PATIENCE_MAX * timing.dead_ns);
        self.heard_ns + timing.dead_ns.max(patience_ns)
    }
}
