//! Lets an idle rank sleep until a message arrives.

use super::Transport;
use std::time::Duration;

/// A transport that an idle loop around an engine can sleep on (UCX's wakeup).
pub trait Wakeup: Transport {
    /// Returns true if a message has arrived.
    fn has_message(&self) -> bool;

    /// Publishes all free room to senders. The caller must call it when nothing is left to do.
    fn publish(&mut self);

    /// Prepares to sleep: from now on, a sender wakes this rank (UCX's `iface_event_arm`). Returns
    /// false, without arming, if a message has arrived.
    fn arm(&mut self) -> bool;

    /// Sleeps until a sender wakes the rank, `limit` passes or a signal arrives. The caller must
    /// have called [`Wakeup::arm`] before.
    fn wait(&mut self, limit: Option<Duration>);
}
