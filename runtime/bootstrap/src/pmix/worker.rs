//! Runs a thread that calls functions which may never return.
//!
//! PMIx's functions wait for the server and for other ranks. The directive `PMIX_TIMEOUT` limits
//! the wait only where the server honours it, and servers have crashed if several ranks used it
//! (openpmix issue 2096). So the functions run in a thread of their own, and the caller waits for
//! the result until its deadline. After the deadline has passed, the thread is left alone, and ends
//! with the process.

use crate::deadline::Deadline;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;

type Job<S> = Box<dyn FnOnce(&mut S) + Send>;

/// A thread with a state that only this thread uses.
#[derive(Debug)]
pub(super) struct Worker<S> {
    jobs: Sender<Job<S>>,
}

/// The reason why a call in the thread has no result.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unfinished {
    /// The deadline has passed.
    Late,
    /// The thread has ended, or can't be started.
    Gone,
}

impl<S: 'static> Worker<S> {
    /// Starts the thread. The thread first creates its state by `make`.
    pub(super) fn start(make: impl FnOnce() -> S + Send + 'static) -> Result<Self, Unfinished> {
        let (jobs, queue): (Sender<Job<S>>, Receiver<Job<S>>) = mpsc::channel();
        let body = move || {
            let mut state = make();
            while let Ok(job) = queue.recv() {
                job(&mut state);
            }
        };
        let thread = thread::Builder::new().name("goal-pmix".to_owned()).spawn(body);
        thread.map(|_| Self { jobs }).map_err(|_| Unfinished::Gone)
    }

    /// Calls `function` in the thread, and waits for its result until the deadline.
    pub(super) fn call<R: Send + 'static>(
        &self,
        deadline: &Deadline,
        function: impl FnOnce(&mut S) -> R + Send + 'static,
    ) -> Result<R, Unfinished> {
        let (result, wait) = mpsc::channel();
        let job = Box::new(move |state: &mut S| {
            // This fails if the caller has given up, which does not matter.
            let _ = result.send(function(state));
        });
        self.jobs.send(job).map_err(|_| Unfinished::Gone)?;
        wait.recv_timeout(deadline.left()).map_err(|error| match error {
            RecvTimeoutError::Timeout => Unfinished::Late,
            RecvTimeoutError::Disconnected => Unfinished::Gone,
        })
    }
}
