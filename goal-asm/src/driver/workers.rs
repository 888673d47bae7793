//! The threads that parallel parts of the work run on, also where the system allows none.

use rayon::ThreadPoolBuilder;

/// Starts the threads that parallel parts run on where nobody asks for others. Each calls `at_start` first. Where the system starts
/// none, this thread does the work alone.
pub fn start_workers(at_start: impl Fn() + Send + Sync + 'static) {
    if ThreadPoolBuilder::new().start_handler(move |_| at_start()).build_global().is_err() {
        work_alone();
    }
}

/// Lets this thread do the work where no other has been started for it: the alternative is a panic.
pub(super) fn work_alone() {
    // Fails where there are such threads.
    let _ = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
}
