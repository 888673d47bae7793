//! Lets a rank in mode `thread` and its thread sleep.

use crate::transport::Sleeper;
use goal_eth::now_ns;
use goal_shm::Mailbox;
use std::time::Duration;

/// A sleep of a rank's thread.
pub(super) struct Sleep<'a> {
    pub(super) sources: WakeSources<'a>,
    /// The longest time that the sleep may take; `None` if it has no limit.
    pub(super) limit: Option<Duration>,
}

impl Sleep<'_> {
    /// Returns the time in nanoseconds at which the sleep ends without a wakeup, if it begins now.
    /// Returns `u64::MAX` if it does not.
    pub(super) fn ends_ns(&self) -> u64 {
        let limit_ns = self.limit.map(|limit| now_ns().saturating_add(limit.as_nanos() as u64));
        let until_ns = self.sources.sleeper.as_ref().and_then(Sleeper::until_ns);
        limit_ns.into_iter().chain(until_ns).min().unwrap_or(u64::MAX)
    }

    /// Sleeps until the bell rings, a frame comes from another host or the limit passes. Neither
    /// drains nor disarms the bell, since the rank may sleep too.
    pub(super) fn sleep(&self) {
        self.sources.sleep_leaving_bell(self.limit);
    }
}

/// The sources of wakeups of a rank or its thread. Either may sleep on them while the other uses
/// the engine.
pub(crate) struct WakeSources<'a> {
    pub(super) mailbox: Mailbox<'a>,
    pub(super) sleeper: Option<Sleeper>,
}

impl WakeSources<'_> {
    /// Sleeps until the bell rings, a frame comes from another host or `limit` passes. Then drains
    /// and disarms the bell. Only the rank calls this, not its thread.
    pub(crate) fn wait(&self, limit: Option<Duration>) {
        self.sleep_leaving_bell(limit);
        self.mailbox.bell().drain();
        self.mailbox.disarm();
    }

    /// Sleeps as [`WakeSources::wait`] does, but neither drains nor disarms the bell.
    pub(super) fn sleep_leaving_bell(&self, limit: Option<Duration>) {
        match &self.sleeper {
            None => self.mailbox.sleep_without_disarming(limit),
            Some(sleeper) => sleeper.sleep(self.mailbox.bell(), limit),
        }
    }
}
