//! A rank's side of mode `thread`.

use super::thread::ProgressThread;
use crate::transport::Ends;
use goal_engine::Engine;
use std::ops::Deref;
use std::sync::Arc;
use std::thread::JoinHandle;

/// A rank's side of the state that it shares with its thread, which ends when this is dropped.
pub(super) struct Threaded<'a> {
    shared: Arc<ProgressThread<'a>>,
    /// The thread, unless a scope waits for it.
    thread: Option<JoinHandle<()>>,
}

impl<'a> Threaded<'a> {
    pub(super) fn new(shared: Arc<ProgressThread<'a>>, thread: Option<JoinHandle<()>>) -> Self {
        Self { shared, thread }
    }
}

impl<'a> Deref for Threaded<'a> {
    type Target = ProgressThread<'a>;

    fn deref(&self) -> &ProgressThread<'a> {
        &self.shared
    }
}

impl<'a> Threaded<'a> {
    /// Ends the thread and returns the engine; `None` if the thread gave up.
    pub(super) fn into_engine(mut self) -> Option<Engine<'a, Ends<'a>>> {
        self.end();
        let shared = Arc::clone(&self.shared);
        drop(self);
        if shared.failure().is_some() {
            return None;
        }
        // The thread has dropped its own.
        Arc::into_inner(shared).map(ProgressThread::into_engine)
    }

    fn end(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            // It catches its panics.
            let _ = thread.join();
        }
    }
}

impl Drop for Threaded<'_> {
    fn drop(&mut self) {
        self.end();
    }
}
