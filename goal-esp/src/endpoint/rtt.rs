//! The estimate of round trips, and the retransmission timeout that follows from it (RFC 6298).

use super::config::Timing;

/// The number of timeouts at the longest value for a lost frame, after which a busy peer is more
/// likely.
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
            // (2.2)
            *self = Self { smoothed_ns: sample_ns, variation_ns: sample_ns / 2 };
            return;
        }
        // (2.3): alpha is 1/8, beta is 1/4.
        let error_ns = self.smoothed_ns.abs_diff(sample_ns);
        self.variation_ns = self.variation_ns - self.variation_ns / 4 + error_ns / 4;
        self.smoothed_ns = self.smoothed_ns - self.smoothed_ns / 8 + sample_ns / 8;
    }

    /// Returns the smoothed round trip; `None` before the first measurement.
    pub(super) fn smoothed_ns(&self) -> Option<u64> {
        (self.smoothed_ns > 0).then_some(self.smoothed_ns)
    }

    /// Returns the retransmission timeout after `backoff` timeouts without an answer. `lag_ns` is
    /// the time after which peers have answered lately.
    pub(super) fn timeout_ns(&self, timing: &Timing, lag_ns: u64, backoff: u32) -> u64 {
        let base_ns = match self.smoothed_ns() {
            // The peer may delay its acknowledgement.
            Some(smoothed_ns) => smoothed_ns + 4 * self.variation_ns + timing.acknowledge_ns,
            None => timing.retransmit_initial_ns,
        };
        let base_ns = base_ns.max(timing.retransmit_min_ns);
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
/// Ranks that share few processors all answer late. Each connection would have to find that out by
/// repetitions, which keep its peer busier still; this estimate lets it learn from the others. The
/// cause of a repetition is unknown, so a lost frame raises the estimate too, but by no more than
/// the time that it took.
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

#[cfg(test)]
mod tests {
    use super::{Lag, Rtt};
    use crate::endpoint::Timing;

    #[test]
    fn settles_on_what_is_measured() {
        let timing = Timing::default();
        let mut rtt = Rtt::default();
        assert_eq!(rtt.timeout_ns(&timing, 0, 0), timing.retransmit_initial_ns);
        for _ in 0..200 {
            rtt.measure(4_000_000);
        }
        assert_eq!(rtt.smoothed_ns().unwrap() / 10_000, 400);
        assert!((4_000_000..4_300_000).contains(&rtt.timeout_ns(&timing, 0, 0)));
        assert!(rtt.timeout_ns(&timing, 0, 1) >= 8_000_000);
        assert_eq!(rtt.timeout_ns(&timing, 0, 60), timing.retransmit_patient_ns);
    }

    #[test]
    fn what_is_said_in_vain_is_said_less_and_less_often() {
        let timing = Timing { retransmit_max_ns: 20_000_000, ..Timing::default() };
        let rtt = Rtt::default();
        let times_ms: Vec<u64> =
            (0..12).map(|n| rtt.timeout_ns(&timing, 0, n) / 1_000_000).collect();
        assert_eq!(times_ms, [10, 20, 20, 20, 20, 20, 40, 80, 160, 320, 640, 1000]);
    }

    #[test]
    fn nothing_is_said_again_before_a_round_trip_has_passed() {
        let timing = Timing { retransmit_max_ns: 20_000_000, ..Timing::default() };
        let mut rtt = Rtt::default();
        rtt.measure(3_000_000_000);
        assert!((0..20).all(|n| rtt.timeout_ns(&timing, 0, n) > 3_000_000_000));
    }

    #[test]
    fn peers_that_answer_late_are_asked_again_later() {
        let timing = Timing { retransmit_max_ns: 20_000_000, ..Timing::default() };
        let mut lag = Lag::default();
        lag.note(&timing, 300_000_000);
        let times_ms = |lag: Lag| {
            [0, 3, 5, 9].map(|n| Rtt::default().timeout_ns(&timing, lag.ns(), n) / 1_000_000)
        };
        assert_eq!(times_ms(lag), [300, 300, 300, 320]);
        (0..50).for_each(|_| lag.note(&timing, 1_000_000));
        assert_eq!(times_ms(lag), [10, 20, 20, 320]);
        // The limit is the timeout of a peer that was asked again and again.
        (0..50).for_each(|_| lag.note(&timing, 60_000_000_000));
        assert!(times_ms(lag).iter().all(|times_ms| (990..=1000).contains(times_ms)));
    }
}
