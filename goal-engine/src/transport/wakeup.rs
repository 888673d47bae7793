//! Sleep, as the loop around an engine asks for it.

use super::Transport;
use std::time::Duration;

/// What the loop around an engine asks of its transport while there is nothing to do (UCX's
/// wakeup).
pub trait Wakeup: Transport {
    /// Whether a message has arrived.
    fn has_message(&self) -> bool;

    /// Tells senders of all room that there is on the way here: to be called when nothing is left
    /// to do.
    fn publish(&mut self);

    /// Prepares to sleep: who sends a message rings from now on (UCX's `iface_event_arm`). False,
    /// and nobody does, if a message has arrived.
    fn arm(&mut self) -> bool;

    /// Sleeps, once armed, until somebody rings, `limit` passes or a signal comes.
    fn wait(&mut self, limit: Option<Duration>);
}
