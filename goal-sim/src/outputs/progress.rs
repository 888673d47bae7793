//! The progress of a simulation on a terminal.

use goalc::driver;
use std::io::{self, IsTerminal};
use std::time::Instant;

/// Actions between two looks at the clock.
const STEP: u64 = 1 << 16;

/// Counts actions that have ended.
pub(super) struct Progress {
    ended: u64,
    actions: u64,
    started: Instant,
}

impl Progress {
    /// Begins to count, if standard error is a terminal.
    pub(super) fn new(actions: usize) -> Option<Self> {
        io::stderr().is_terminal().then(|| Self {
            ended: 0,
            actions: actions as u64,
            started: Instant::now(),
        })
    }

    pub(super) fn advance(&mut self) {
        self.ended += 1;
        if self.ended.is_multiple_of(STEP) {
            driver::show_stage(&text(
                self.ended,
                self.actions,
                self.started.elapsed().as_secs_f64(),
            ));
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
