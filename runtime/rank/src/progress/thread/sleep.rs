//! Lets a rank in mode `thread` sleep, and its thread.

use crate::transport::Sleeper;
use goal_eth::now_ns;
use goal_shm::Mailbox;
use std::time::Duration;

/// A sleep of the thread.
pub(super) struct Sleep<'a> {
    pub(super) sources: WakeSources<'a>,
    /// The longest time that it may take; `None` without a bound.
    pub(super) limit: Option<Duration>,
}

impl Sleep<'_> {
    /// Returns the time at which the sleep ends by itself if it begins now.
    pub(super) fn ends_ns(&self) -> u64 {
        let limit_ns = self.limit.map(|limit| now_ns().saturating_add(limit.as_nanos() as u64));
        let until_ns = self.sources.sleeper.as_ref().and_then(Sleeper::until_ns);
        limit_ns.into_iter().chain(until_ns).min().unwrap_or(u64::MAX)
    }

    /// Sleeps until the bell rings, a frame comes from another host or the limit passes. Leaves the
    /// bell as it is, since the rank may be asleep too.
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
    /// Sleeps until the bell rings, a frame comes from another host or `limit` passes, then drains
    /// and disarms the bell. For the rank.
    pub(crate) fn wait(&self, limit: Option<Duration>) {
        self.sleep_leaving_bell(limit);
        self.mailbox.bell().drain();
        self.mailbox.disarm();
    }

    /// Sleeps as [`WakeSources::wait`] does, but leaves the bell as it is.
    pub(super) fn sleep_leaving_bell(&self, limit: Option<Duration>) {
        match &self.sleeper {
            None => self.mailbox.sleep_without_disarming(limit),
            Some(sleeper) => sleeper.sleep(self.mailbox.bell(), limit),
        }
    }
}
