//! The life of the interpreter: who may call into it, and when it is too late.
//!
//! Functions at the end of runs are called by any thread, also by the rank's own. None may enter an
//! interpreter that ends, and a child of `fork` must not use the rank of its parent.

use crate::error::{IntoPy, raised};
use goal::raw::is_in_function;
use goal::{ErrorCode, Group};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

static CLOSING: AtomicBool = AtomicBool::new(false);
/// The number of values of [`Entering`].
static ENTERING: AtomicUsize = AtomicUsize::new(0);

/// Objects that were dropped within functions of the program, to be let go after them.
static DROPPED: Mutex<Vec<Box<dyn FnOnce() + Send>>> = Mutex::new(Vec::new());

/// The longest time that the end of the interpreter waits for calls of the program's functions in
/// other threads. One that blocks stops there: CPython lets no thread go on afterwards.
const LEAVE_LIMIT: Duration = Duration::from_secs(2);

/// The time between two looks at them.
const LOOK: Duration = Duration::from_micros(100);

/// A thread that is about to enter the interpreter, or is in it, from outside.
struct Entering;

impl Entering {
    /// Returns `None` if the interpreter is about to end.
    fn new() -> Option<Self> {
        ENTERING.fetch_add(1, Ordering::SeqCst);
        let entering = Self;
        (!CLOSING.load(Ordering::SeqCst)).then_some(entering)
    }
}

impl Drop for Entering {
    fn drop(&mut self) {
        ENTERING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Called when the interpreter is about to end: no thread enters it from outside any more.
#[pyfunction]
#[pyo3(name = "_close")]
pub(crate) fn close(py: Python<'_>) {
    CLOSING.store(true, Ordering::SeqCst);
    // The threads of its parent are not there.
    if is_forked() {
        return;
    }
    py.detach(|| {
        let since = Instant::now();
        while ENTERING.load(Ordering::SeqCst) > 0 && since.elapsed() < LEAVE_LIMIT {
            thread::sleep(LOOK);
        }
    });
}

/// Returns true if this process is a fork of the one that joined the group.
pub(crate) fn is_forked() -> bool {
    Group::is_fork()
}

/// Calls `f`, which uses the group, while other Python threads may run.
///
/// # Errors
/// Those of `f`, or the process is a fork of the rank's.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    f: impl FnOnce() -> goal::Result<T> + Send,
) -> PyResult<T> {
    if is_forked() {
        let text = "this process is a fork of the rank's: only the process that called goal.init \
                    may use the group";
        return Err(raised(py, ErrorCode::Init, text));
    }
    if is_in_function() {
        let text = "a registered function can't call this package, which is executing a schedule";
        return Err(raised(py, ErrorCode::Unsupported, text));
    }
    py.detach(|| {
        let dropped = std::mem::take(&mut *dropped());
        dropped.into_iter().for_each(|drop| drop());
        f()
    })
    .into_py(py)
}

fn dropped() -> std::sync::MutexGuard<'static, Vec<Box<dyn FnOnce() + Send>>> {
    DROPPED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `f`, which may take the lock of the rank's end, from the destructor of a Python object. In
/// a function of the program, which is called with this lock, `f` is called later.
pub(crate) fn dropping(f: impl FnOnce() + Send + 'static) {
    if is_in_function() {
        return dropped().push(Box::new(f));
    }
    let mut f = Some(f);
    let mut call = || f.take().expect("it is called once")();
    // When the interpreter ends, no other thread waits for it with the lock.
    let called =
        Entering::new().and_then(|_entering| Python::try_attach(|py| py.detach(&mut call)));
    if called.is_none() {
        call();
    }
}

/// Calls `f` in the interpreter, from any thread. Returns `None` without a call if the interpreter
/// ends, or is that of a fork.
pub(crate) fn in_python<T>(f: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    if is_forked() {
        return None;
    }
    let _entering = Entering::new()?;
    Python::try_attach(f)
}
