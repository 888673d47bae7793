//! The progress of a simulation on a terminal.

use goal_loggops::{Actions, Source};
use goalc::driver;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Actions between two looks at the clock.
const STEP: u64 = 1 << 16;

/// Shows how many actions have ended.
pub(crate) struct Progress {
    actions: u64,
    started: Instant,
    /// The number of actions from which on it is shown again.
    next: AtomicU64,
}

impl Progress {
    /// Begins, if standard error is a terminal.
    pub(crate) fn new(source: &impl Source) -> Option<Self> {
        let count = |rank| u64::from(source.rank(rank).count());
        io::stderr().is_terminal().then(|| Self {
            actions: (0..source.num_ranks()).map(count).sum(),
            started: Instant::now(),
            next: AtomicU64::new(STEP),
        })
    }

    /// Shows that `ended` actions have ended.
    pub(crate) fn show(&self, ended: u64) {
        if ended >= self.next.load(Ordering::Relaxed) {
            self.next.store(ended + STEP, Ordering::Relaxed);
            let seconds = self.started.elapsed().as_secs_f64();
            driver::show_stage(&text(ended, self.actions, seconds));
        }
    }
}

fn text(ended: u64, actions: u64, seconds: f64) -> String {
    let percent = ended * 100 / actions.max(1);
    let million = |count: f64| count / 1e6;
    format!(
        "simulating: {percent} % of {:.1} million actions, {:.1} million a second",
        million(actions as f64),
        million(ended as f64 / seconds.max(1e-9))
    )
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn progress_has_share_and_rate() {
        let wanted = "simulating: 25 % of 8.0 million actions, 4.0 million a second";
        assert_eq!(text(2_000_000, 8_000_000, 0.5), wanted);
    }
}
