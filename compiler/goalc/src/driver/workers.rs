//! The threads that work, also on systems that allow few threads or none, or little stack.

use nix::sys::signal::{SigSet, Signal};
use rayon::ThreadPoolBuilder;
use std::panic::resume_unwind;
use std::thread;

/// Bytes of stack that every command can do with.
const STACK_MIN: u64 = 1 << 20;
/// Bytes of stack without which not even a command line can be read.
const STACK_LEAST: u64 = 256 << 10;

/// Returns the most bytes that the stack of the process may have (`ulimit -s`), if they are fewer
/// than `enough`.
fn scarce_stack(enough: u64) -> Option<u64> {
    // Reads a file instead of a system call, because a filter of system calls may forbid the call
    // but not the file.
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

/// Runs `work` on the calling thread, or on a thread of its own if the stack of the process may not
/// grow to `STACK_MIN` bytes. The calling thread must be the first of the process.
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

/// Runs `work`. Its parallel parts share `threads` threads, which end with it. If `threads` is at
/// most 1, or the system does not start all of them, the calling thread does all of the work.
///
/// No threads are kept for the next call: a forked child would wait for threads that it does not
/// have.
pub(super) fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    if threads <= 1 {
        return work();
    }
    // The main thread handles this signal, and may defer it. So no other thread may take it.
    let start = |_| {
        let _ = SigSet::from(Signal::SIGTSTP).thread_block();
    };
    match ThreadPoolBuilder::new().num_threads(threads).start_handler(start).build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}
