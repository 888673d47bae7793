//! The threads that work, also on systems that allow few threads or none, or little stack.

use nix::sys::signal::{SigSet, Signal};
use rayon::{ThreadBuilder, ThreadPoolBuilder};
use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread;

/// Bytes of stack that every command can do with.
const STACK_MIN: u64 = 1 << 20;
/// Bytes of stack without which not even a command line can be read.
const STACK_LEAST: u64 = 256 << 10;

/// Returns the most bytes that the stack of the process may have (`ulimit -s`), if they are fewer
/// than `enough`.
fn scarce_stack(enough: u64) -> Option<u64> {
    // A filter of system calls may forbid the call, and not the file.
    let text = std::fs::read_to_string("/proc/self/limits").ok()?;
    let limit = text.lines().find_map(|line| line.strip_prefix("Max stack size"))?;
    limit.split_whitespace().next()?.parse().ok().filter(|&limit: &u64| limit < enough)
}

/// Refuses a stack that is too small to read a command line.
///
/// # Errors
/// The message.
pub fn refuse_small_stack() -> Result<(), String> {
    match scarce_stack(STACK_LEAST) {
        Some(limit) => Err(format!(
            "the stack may have only {} KiB: raise `ulimit -s` to {} or more",
            limit >> 10,
            STACK_LEAST >> 10
        )),
        None => Ok(()),
    }
}

/// Runs `work` on the calling thread, or on a thread of its own if the stack of the process may
/// not grow to `STACK_MIN` bytes. The calling thread is the process's first.
///
/// # Errors
/// The message if the stack is too small and the system starts no thread.
pub fn with_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    if scarce_stack(STACK_MIN).is_none() {
        return Ok(work());
    }
    let mut work = Some(work);
    let mut run = || work.take().map(|work| work());
    let done = thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(STACK_MIN as usize);
        let thread = builder.spawn_scoped(scope, &mut run).ok()?;
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    });
    match done {
        Some(done) => Ok(done),
        None => {
            refuse_small_stack()?;
            Ok(run().expect("the work is done once"))
        }
    }
}

/// Set once the threads are started.
static STARTED: Once = Once::new();

/// Starts the threads of the global pool, one for each processor or as many as the system allows.
/// If it allows none, the calling thread does the work alone. A second call does nothing.
pub fn start_workers() {
    STARTED.call_once(start);
}

fn start() {
    // The threads are started before the pool: building a pool with fewer threads than it asks for
    // fails, and can't be repeated.
    let (sender, receiver) = channel::<ThreadBuilder>();
    let receiver = Arc::new(Mutex::new(receiver));
    let start = || {
        let receiver = Arc::clone(&receiver);
        let work = move || {
            // The main thread handles this signal, and may defer it. So no other thread may take
            // it.
            let _ = SigSet::from(Signal::SIGTSTP).thread_block();
            let part = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
            // There is no part if the program has already made a global pool.
            if let Ok(part) = part {
                part.run();
            }
        };
        thread::Builder::new().name("worker".to_owned()).spawn(work)
    };
    let wanted = thread::available_parallelism().map_or(1, usize::from);
    let started = (0..wanted).take_while(|_| start().is_ok()).count();
    if started == 0 {
        // Without this pool the first parallel part would panic. Fails if the program has already
        // made one.
        let _ = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
        return;
    }
    let pool = ThreadPoolBuilder::new().num_threads(started);
    // Fails if there is a global pool already.
    let _ = pool
        .spawn_handler(|part| sender.send(part).map_err(|_| io::ErrorKind::BrokenPipe.into()))
        .build_global();
}
