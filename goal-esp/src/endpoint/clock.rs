//! When the timers of a connection pass.

use super::config::Timing;
use super::rtt::Rtt;
use crate::machine::{Progress, Timer};

/// One timer.
#[derive(Debug, Clone, Copy, Default)]
struct Running {
    deadline_ns: Option<u64>,
    /// How often it has passed in vain.
    backoff: u32,
}

/// The timers of a connection, and what round trips take.
#[derive(Debug, Clone, Default)]
pub(super) struct Clock {
    pub(super) rtt: Rtt,
    timers: [Running; Timer::ALL.len()],
}

impl Clock {
    /// There was progress: timers begin anew, when they are set again.
    pub(super) fn begin_anew(&mut self, progress: Progress) {
        for (running, timer) in self.timers.iter_mut().zip(Timer::ALL) {
            let begins_anew = match timer {
                Timer::Insist => progress.is_acknowledged,
                Timer::Request => progress.has_arrived,
                Timer::Handshake | Timer::Acknowledge => false,
            };
            if begins_anew {
                *running = Running::default();
            }
        }
    }

    /// Starts and stops timers: those run that `is_armed` says.
    pub(super) fn set(&mut self, now_ns: u64, timing: &Timing, is_armed: impl Fn(Timer) -> bool) {
        for (running, timer) in self.timers.iter_mut().zip(Timer::ALL) {
            if !is_armed(timer) {
                *running = Running::default();
            } else if running.deadline_ns.is_none() {
                let interval_ns = match timer {
                    Timer::Acknowledge => timing.acknowledge_ns,
                    _ => self.rtt.timeout_ns(timing, running.backoff),
                };
                running.deadline_ns = Some(now_ns + interval_ns);
            }
        }
    }

    /// A timer that has passed; to be called until there is none, and before timers are set again.
    pub(super) fn pass(&mut self, now_ns: u64) -> Option<Timer> {
        let is_over =
            |running: &Running| running.deadline_ns.is_some_and(|deadline_ns| deadline_ns <= now_ns);
        let index = self.timers.iter().position(is_over)?;
        self.timers[index].deadline_ns = None;
        self.timers[index].backoff += 1;
        Some(Timer::ALL[index])
    }

    /// When the first one passes.
    pub(super) fn deadline_ns(&self) -> Option<u64> {
        self.timers.iter().filter_map(|running| running.deadline_ns).min()
    }
}
