//! Notifies the program of the end of a run: calls a function of the program, or makes a descriptor
//! readable.
//!
//! The function is called within the call of this library that notices the end. A descriptor must
//! become readable without such a call. So a thread of the library tests the descriptor's run from
//! time to time, unless a thread of the program waits in a call. While this thread tests, the rank
//! does not count as waiting, because the program may compute.
#![allow(unsafe_code)] // exported names, pointers of the caller

use crate::border::{border, status};
use crate::types::{GOAL_Handle, ticket};
use goal::raw::{self, Ticket};
use goal::{Error, ErrorCode, Group, Result};
use goal_rank::program::{LibraryThread, sleep};
use parking_lot::Mutex;
use rustix::event::{EventfdFlags, eventfd};
use std::ffi::{c_int, c_void};
use std::os::fd::{IntoRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

type GOAL_Callback = Option<unsafe extern "C-unwind" fn(handle: GOAL_Handle, arg: *mut c_void)>;

/// The argument that the program wants its function to get.
struct Argument(*mut c_void);

// SAFETY: the header says that any thread of the program may call the function.
unsafe impl Send for Argument {}

impl Argument {
    fn get(self) -> *mut c_void {
        self.0
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn GOAL_On_end(
    handle: GOAL_Handle,
    callback: GOAL_Callback,
    arg: *mut c_void,
) -> c_int {
    status("GOAL_On_end", || {
        let run = ticket(handle)?;
        let Some(callback) = callback else {
            return Err(Error::new(ErrorCode::Argument, "callback is NULL"));
        };
        let arg = Argument(arg);
        // SAFETY: the caller passes a function of this type, which may be called once with `arg`.
        raw::when_ended(run, Box::new(move |_| unsafe { call(callback, handle, arg.get()) }))
    })
}

/// Calls a function of the program. If an exception leaves the function, the process ends here,
/// since the exception would skip frames of the library.
///
/// # Safety
/// The conditions of `function` hold.
unsafe extern "C" fn call(
    function: unsafe extern "C-unwind" fn(GOAL_Handle, *mut c_void),
    handle: GOAL_Handle,
    arg: *mut c_void,
) {
    // SAFETY: as the caller says.
    unsafe { function(handle, arg) };
}

/// A run, and a copy of the descriptor that becomes readable at the end of the run.
struct Watched {
    run: Ticket,
    event: Arc<OwnedFd>,
}

struct Watch {
    watched: Vec<Watched>,
    /// True while the thread that tests the runs exists.
    has_thread: bool,
}

static WATCH: Mutex<Watch> = Mutex::new(Watch { watched: Vec::new(), has_thread: false });

/// The number of descriptors whose runs may not have ended.
static WATCHED: AtomicUsize = AtomicUsize::new(0);

/// The shortest time between two tests of the runs. [`PAUSE_MAX`] is the longest.
const PAUSE_MIN: Duration = Duration::from_micros(20);
const PAUSE_MAX: Duration = Duration::from_millis(1);

fn system(error: &dyn ToString) -> Error {
    Error::new(ErrorCode::System, error.to_string())
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Eventfd(handle: GOAL_Handle) -> c_int {
    border("GOAL_Eventfd", || {
        let run = ticket(handle)?;
        let has_ended = raw::test(run)?;
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let given = eventfd(has_ended.into(), flags).map_err(|error| system(&error))?;
        if !has_ended {
            let event = Arc::new(given.try_clone().map_err(|error| system(&error))?);
            watch(Watched { run, event: Arc::clone(&event) });
            raw::when_ended(run, Box::new(move |_| notify(&event)))?;
            // `when_ended` has taken the engine lock before this. So either `start` sees the thread
            // that waits with the lock, or that thread sees the descriptor after its wait.
            start()?;
        }
        Ok(given.into_raw_fd())
    })
}

/// Makes a descriptor readable. The write fails only if the descriptor's counter is full, and then
/// the descriptor is readable already.
fn notify(event: &OwnedFd) {
    let _ = rustix::io::write(event, &1u64.to_ne_bytes());
}

fn watch(watched: Watched) {
    let mut watch = WATCH.lock();
    watch.watched.push(watched);
    WATCHED.store(watch.watched.len(), Ordering::SeqCst);
}

/// Starts the thread that tests the runs, if it is needed and does not exist. It is not needed
/// while a thread of the program waits in a call and notices all ends. It would also do harm then:
/// the launcher finds a rank stuck only if all of its threads wait.
fn start() -> Result<()> {
    let mut watch = WATCH.lock();
    let is_needed = !watch.watched.is_empty() && !raw::has_waiter();
    if is_needed && !watch.has_thread {
        let thread = thread::Builder::new().name("goal-events".into());
        thread.spawn(look).map_err(|error| system(&error))?;
        watch.has_thread = true;
    }
    Ok(())
}

/// Starts the thread that tests the runs again, if it is needed. A thread calls this after it has
/// waited for a run.
#[inline]
pub(crate) fn waited() {
    if WATCHED.load(Ordering::SeqCst) > 0 && !Group::is_fork() {
        // If the thread can't be started, later calls notice the ends.
        let _ = start();
    }
}

/// Tests the runs of descriptors until there is no such run, or a thread of the program waits in a
/// call.
fn look() {
    let _thread = LibraryThread::enter();
    let mut pause = PAUSE_MIN;
    loop {
        let runs: Vec<Ticket> = {
            let mut watch = WATCH.lock();
            if watch.watched.is_empty() || raw::has_waiter() {
                watch.has_thread = false;
                return;
            }
            watch.watched.iter().map(|watched| watched.run).collect()
        };
        // The runs are tested without the lock, because a test may call functions of the program.
        let mut ended = Vec::new();
        for run in runs {
            match raw::test(run) {
                Ok(false) => {}
                // The test has called `notify`, so the run's descriptor is readable.
                Ok(true) => ended.push((run, false)),
                // No run goes on. A program that polls the descriptor gets the error from its next
                // call.
                Err(_) => ended.push((run, true)),
            }
        }
        if ended.is_empty() {
            sleep(pause);
            pause = (pause * 2).min(PAUSE_MAX);
            continue;
        }
        pause = PAUSE_MIN;
        let mut watch = WATCH.lock();
        watch.watched.retain(|watched| {
            let found = ended.iter().find(|(run, _)| *run == watched.run);
            if let Some((_, true)) = found {
                notify(&watched.event);
            }
            found.is_none()
        });
        WATCHED.store(watch.watched.len(), Ordering::SeqCst);
    }
}
