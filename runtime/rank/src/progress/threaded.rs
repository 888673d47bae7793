//! A rank's side of mode `thread`. Dropping it ends the rank's thread.

use super::thread::ProgressThread;
use crate::transport::RankTransport;
use goal_engine::Engine;
use std::ops::Deref;
use std::sync::Arc;
use std::thread;

/// A rank's side of the state that it shares with its thread. The drop of this value stops the
/// thread and takes the state from it. The drop does not wait for the end of the thread, which may
/// be in a function of the program.
pub(super) struct Threaded<'a> {
    /// The shared state; `None` once [`Threaded::take`] has taken it.
    shared: Option<Arc<ProgressThread<'a>>>,
}

impl<'a> Threaded<'a> {
    pub(super) fn new(shared: Arc<ProgressThread<'a>>) -> Self {
        Self { shared: Some(shared) }
    }
}

impl<'a> Deref for Threaded<'a> {
    type Target = ProgressThread<'a>;

    fn deref(&self) -> &ProgressThread<'a> {
        self.shared.as_ref().expect("it is taken only at the end")
    }
}

impl<'a> Threaded<'a> {
    /// Ends the thread and returns the engine; `None` if the thread gave up.
    pub(super) fn into_engine(mut self) -> Option<Engine<'a, RankTransport<'a>>> {
        let shared = self.take()?;
        shared.failure().is_none().then(|| shared.into_engine())
    }

    /// Stops the thread, and takes the state from it.
    fn take(&mut self) -> Option<ProgressThread<'a>> {
        let mut shared = self.shared.take()?;
        shared.stop();
        loop {
            // The thread drops its reference after its current step. After `stop` it does not sleep
            // in a step.
            match Arc::try_unwrap(shared) {
                Ok(own) => return Some(own),
                Err(used) => shared = used,
            }
            thread::yield_now();
        }
    }
}

impl Drop for Threaded<'_> {
    fn drop(&mut self) {
        drop(self.take());
    }
}
