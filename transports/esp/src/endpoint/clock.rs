//! The timers of a connection.

use super::config::Timing;
use super::rtt::Rtt;
use crate::machine::{Progress, Timer};

/// One timer.
#[derive(Debug, Clone, Copy, Default)]
struct Running {
    deadline_ns: Option<u64>,
    /// The number of expirations without progress (`backoff`), and the time at which the timer was
    /// first started (`since_ns`).
    backoff: u32,
    since_ns: u64,
}

/// The timers of a connection, and its estimate of the round trip.
#[derive(Debug, Clone, Default)]
pub(super) struct Clock {
    pub(super) rtt: Rtt,
    timers: [Running; Timer::ALL.len()],
}

impl Clock {
    /// Restarts the timers that `progress` concerns. If a packet was repeated before its
    /// acknowledgement came, returns how many nanoseconds the acknowledgement took. Returns `None`
    /// otherwise.
    pub(super) fn restart_timers(&mut self, now_ns: u64, progress: Progress) -> Option<u64> {
        let mut late_ns = None;
        for (running, timer) in self.timers.iter_mut().zip(Timer::ALL) {
            let begins_anew = match timer {
                Timer::Repeat => progress.is_acknowledged,
                Timer::Request => progress.has_arrived,
                Timer::Handshake | Timer::Acknowledge => false,
            };
            if begins_anew {
                if timer == Timer::Repeat && running.backoff > 0 {
                    late_ns = Some(now_ns - running.since_ns);
                }
                *running = Running::default();
            }
        }
        late_ns
    }

    /// Starts and stops timers, so that exactly the timers run for which `is_armed` returns true.
    /// `lag_ns` is the time after which peers have answered lately.
    pub(super) fn set(
        &mut self,
        now_ns: u64,
        timing: &Timing,
        lag_ns: u64,
        is_armed: impl Fn(Timer) -> bool,
    ) {
        for (running, timer) in self.timers.iter_mut().zip(Timer::ALL) {
            if !is_armed(timer) {
                *running = Running::default();
            } else if running.deadline_ns.is_none() {
                let interval_ns = match timer {
                    Timer::Acknowledge => timing.acknowledge_ns,
                    // The peer is sending, so it is awake.
                    Timer::Request => self.rtt.timeout_ns(timing, 0, running.backoff),
                    Timer::Handshake | Timer::Repeat => {
                        self.rtt.timeout_ns(timing, lag_ns, running.backoff)
                    }
                };
                if running.backoff == 0 {
                    running.since_ns = now_ns;
                }
                running.deadline_ns = Some(now_ns + interval_ns);
            }
        }
    }

    /// Returns a timer that has expired, and the time since it was first started. The caller must
    /// call it until it returns `None`, before [`Clock::set`].
    pub(super) fn take_expired(&mut self, now_ns: u64) -> Option<(Timer, u64)> {
        let is_over = |running: &Running| {
            running.deadline_ns.is_some_and(|deadline_ns| deadline_ns <= now_ns)
        };
        let index = self.timers.iter().position(is_over)?;
        self.timers[index].deadline_ns = None;
        self.timers[index].backoff += 1;
        Some((Timer::ALL[index], now_ns.saturating_sub(self.timers[index].since_ns)))
    }

    /// Returns the time at which the first timer expires; `None` if no timer runs.
    pub(super) fn deadline_ns(&self) -> Option<u64> {
        self.timers.iter().filter_map(|running| running.deadline_ns).min()
    }
}
