//! Does work that a signal can end before its end.

use super::output::Failure;
use goal_launch::{self, Forwarded, unattended};
use std::io;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The longest time between two checks for signals.
const LOOK: Duration = Duration::from_millis(20);

/// Calls `work` in a new thread and returns its result. If `signal` returns a signal meanwhile,
/// calls `leave` with it. Then the process exits with the status that `leave` returns, and the work
/// is not finished. After this function has returned, signals have their default actions.
pub(crate) fn attended<T: Send>(
    work: impl FnOnce() -> T + Send,
    mut signal: impl FnMut() -> Option<usize>,
    leave: impl FnOnce(usize) -> u8,
) -> T {
    let work = Mutex::new(Some(work));
    let take = || work.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (done, is_done) = sync_channel::<()>(1);
    let mut leave = Some(leave);
    let mut look = move |is_last: bool| {
        if is_last {
            unattended();
        }
        if let Some(signal) = signal() {
            unattended();
            let leave = leave.take().expect("nothing is done after it");
            std::process::exit(leave(signal).into());
        }
    };
    let result = thread::scope(|scope| {
        let body = move || {
            // The sender is dropped at the end of the work, or if the work panics.
            let _done = done;
            take().map(|work| work())
        };
        let Ok(thread) = thread::Builder::new().name("work".to_owned()).spawn_scoped(scope, body)
        else {
            // The system starts no thread, so a signal has to wait for the work.
            return take().expect("nobody else has taken it")();
        };
        while is_done.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            look(false);
        }
        match thread.join() {
            Ok(result) => result.expect("nobody else has taken it"),
            Err(panic) => resume_unwind(panic),
        }
    });
    // A signal may have come since the last check.
    look(true);
    result
}

/// The signals that a launcher handles.
pub(crate) struct Signals {
    /// The number of the signal that ends the run. 0 until one comes.
    pub(crate) interrupted: Arc<AtomicUsize>,
    /// The signals to pass on to ranks.
    pub(crate) forwarded: Forwarded,
    /// Set when a terminal asks this process to stop (SIGTSTP).
    pub(crate) suspended: Arc<AtomicBool>,
}

impl Signals {
    /// Installs handlers for these signals.
    pub(crate) fn handle() -> Result<Self, Failure> {
        Ok(Self {
            interrupted: interrupted()?,
            forwarded: Forwarded::handle().map_err(no_signals)?,
            suspended: goal_launch::suspended().map_err(no_signals)?,
        })
    }
}

/// Installs handlers for the signals that end a run. Returns a variable that is 0, and later the
/// number of such a signal.
pub(crate) fn interrupted() -> Result<Arc<AtomicUsize>, Failure> {
    goal_launch::interrupted().map_err(no_signals)
}

fn no_signals(error: io::Error) -> Failure {
    Failure::System(format!("signals can't be handled: {error}"))
}
