//! When the timers of a connection pass.

use super::config::Timing;
use super::rtt::Rtt;
use crate::machine::{Progress, Timer};

/// One timer.
#[derive(Debug, Clone, Copy, Default)]
struct Running {
    deadline_ns: Option<u64>,
    /// Number of times it has passed in vain, and the time of its first start.
    backoff: u32,
    since_ns: u64,
}

/// The timers of a connection, and what round trips take.
#[derive(Debug, Clone, Default)]
pub(super) struct Clock {
    pub(super) rtt: Rtt,
    timers: [Running; Timer::ALL.len()],
}

impl Clock {
    /// There was progress: timers begin anew, when they are set again. How long an acknowledgement
    /// took for which a packet was sent again.
    pub(super) fn begin_anew(&mut self, now_ns: u64, progress: Progress) -> Option<u64> {
        let mut late_ns = None;
        for (running, timer) in self.timers.iter_mut().zip(Timer::ALL) {
            let begins_anew = match timer {
                Timer::Insist => progress.is_acknowledged,
                Timer::Request => progress.has_arrived,
                Timer::Handshake | Timer::Acknowledge => false,
            };
            if begins_anew {
                if timer == Timer::Insist && running.backoff > 0 {
                    late_ns = Some(now_ns - running.since_ns);
                }
                *running = Running::default();
            }
        }
        late_ns
    }

    /// Starts and stops timers: those run that `is_armed` says. Answers of all peers took `lag_ns`
    /// lately.
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
                    // The peer sends now, so it is awake.
                    Timer::Request => self.rtt.timeout_ns(timing, 0, running.backoff),
                    Timer::Handshake | Timer::Insist => {
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

    /// A timer that has passed, and how long it was waited for in vain until now; to be called
    /// until there is none, and before timers are set again.
    pub(super) fn pass(&mut self, now_ns: u64) -> Option<(Timer, u64)> {
        let is_over = |running: &Running| {
            running.deadline_ns.is_some_and(|deadline_ns| deadline_ns <= now_ns)
        };
        let index = self.timers.iter().position(is_over)?;
        self.timers[index].deadline_ns = None;
        self.timers[index].backoff += 1;
        Some((Timer::ALL[index], now_ns.saturating_sub(self.timers[index].since_ns)))
    }

    /// When the first one passes.
    pub(super) fn deadline_ns(&self) -> Option<u64> {
        self.timers.iter().filter_map(|running| running.deadline_ns).min()
    }
}
