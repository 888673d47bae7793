//! A thread that calls functions which may never return.
//!
//! PMIx's functions wait for the server and for other ranks. The directive `PMIX_TIMEOUT` bounds
//! that only where the server honours it, and servers have crashed if several ranks used it
//! (openpmix issue 2096). So they run in a thread of their own, and the caller waits for the result
//! until its deadline. After a deadline the thread is left alone; it ends with the process.

use crate::deadline::Deadline;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;

type Job<S> = Box<dyn FnOnce(&mut S) + Send>;

/// A thread with a state that only it uses.
#[derive(Debug)]
pub(super) struct Worker<S> {
    jobs: Sender<Job<S>>,
}

/// The cause why a call has no result.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unfinished {
    /// The deadline has passed.
    Late,
    /// The thread has ended, or can't be started.
    Gone,
}

impl<S: 'static> Worker<S> {
    /// Starts the thread, which makes its state first.
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

    /// Calls a function in the thread and waits for its result.
    pub(super) fn call<R: Send + 'static>(
        &self,
        deadline: &Deadline,
        function: impl FnOnce(&mut S) -> R + Send + 'static,
    ) -> Result<R, Unfinished> {
        let (result, wait) = mpsc::channel();
        let job = Box::new(move |state: &mut S| {
            // The caller may have given up.
            let _ = result.send(function(state));
        });
        self.jobs.send(job).map_err(|_| Unfinished::Gone)?;
        wait.recv_timeout(deadline.left()).map_err(|error| match error {
            RecvTimeoutError::Timeout => Unfinished::Late,
            RecvTimeoutError::Disconnected => Unfinished::Gone,
        })
    }
}
