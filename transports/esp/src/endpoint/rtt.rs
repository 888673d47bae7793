//! The estimate of round trips, and the retransmission timeout that follows from it (RFC 6298).

use super::config::Timing;

/// The number of timeouts of [`Timing::retransmit_max_ns`] after which a busy peer is more likely
/// than a lost frame.
const REPEATS_MAX: u32 = 4;

/// The estimate of one connection's round trip.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Rtt {
    smoothed_ns: u64,
    variation_ns: u64,
}

impl Rtt {
    /// Adds a measurement.
    pub(super) fn measure(&mut self, sample_ns: u64) {
        let sample_ns = sample_ns.max(1);
        if self.smoothed_ns == 0 {
            // RFC 6298 (2.2).
            *self = Self { smoothed_ns: sample_ns, variation_ns: sample_ns / 2 };
            return;
        }
        // RFC 6298 (2.3): alpha is 1/8, beta is 1/4.
        let error_ns = self.smoothed_ns.abs_diff(sample_ns);
        self.variation_ns = self.variation_ns - self.variation_ns / 4 + error_ns / 4;
        self.smoothed_ns = self.smoothed_ns - self.smoothed_ns / 8 + sample_ns / 8;
    }

    /// Returns the smoothed round trip in nanoseconds; `None` before the first measurement.
    pub(super) fn smoothed_ns(&self) -> Option<u64> {
        (self.smoothed_ns > 0).then_some(self.smoothed_ns)
    }

    /// Returns the retransmission timeout in nanoseconds, after `backoff` timeouts without an
    /// answer. `lag_ns` is the time after which peers have answered lately.
    pub(super) fn timeout_ns(&self, timing: &Timing, lag_ns: u64, backoff: u32) -> u64 {
        let base_ns = match self.smoothed_ns() {
            // The peer may delay its acknowledgement.
            Some(smoothed_ns) => smoothed_ns + 4 * self.variation_ns + timing.acknowledge_ns,
            None => timing.retransmit_initial_ns,
        };
        // A peer that was busy when the first round trip was measured need not stay busy for long.
        let patient_ns = timing.retransmit_patient_ns.max(self.smoothed_ns + self.smoothed_ns / 4);
        let base_ns = base_ns.max(timing.retransmit_min_ns).min(patient_ns);
        // A timeout below the round trip would repeat every packet.
        let max_ns = timing.retransmit_max_ns.max(base_ns);
        let doublings = max_ns.div_ceil(base_ns).next_power_of_two().trailing_zeros();
        let more = backoff.saturating_sub(doublings + REPEATS_MAX).min(20);
        let soon_ns = base_ns.saturating_mul(1 << backoff.min(20)).min(max_ns);
        soon_ns.saturating_mul(1 << more).min(timing.retransmit_patient_ns.max(max_ns)).max(lag_ns)
    }
}

/// The time after which peers have answered lately, on average over all peers. It includes answers
/// to repeated frames.
///
/// Ranks that share few processors all answer late. Each connection would have to find this out by
/// repetitions, which keep its peer even busier. This estimate lets a connection learn from the
/// others. The cause of a repetition is unknown, so a lost frame raises the estimate too, but by no
/// more than the time that it took.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Lag(Option<u64>);

impl Lag {
    /// Adds the time that an answer took.
    pub(super) fn note(&mut self, timing: &Timing, sample_ns: u64) {
        let sample_ns = sample_ns.min(timing.retransmit_patient_ns);
        self.0 = Some(self.0.map_or(sample_ns, |lag_ns| lag_ns - lag_ns / 8 + sample_ns / 8));
    }

    /// Returns the smoothed time; 0 before the first measurement.
    pub(super) fn ns(self) -> u64 {
        self.0.unwrap_or(0)
    }
}
