//! A rank's side of mode `thread`. Dropping it ends the rank's thread.

use super::thread::ProgressThread;
use crate::transport::RankTransport;
use goal_engine::Engine;
use std::ops::Deref;
use std::sync::Arc;
use std::thread;

/// A rank's side of the state that it shares with its thread. When this is dropped, the thread lets
/// go of the state and ends. The thread may be in a function of the program then, so nobody waits
/// for its end.
pub(super) struct Threaded<'a> {
    /// `None` once it is taken.
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

    /// Ends the thread and takes the state from it.
    fn take(&mut self) -> Option<ProgressThread<'a>> {
        let mut shared = self.shared.take()?;
        shared.stop();
        loop {
            // The thread lets go of it between two steps, and does not sleep in one any more.
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
