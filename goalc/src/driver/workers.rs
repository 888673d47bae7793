//! The threads that parallel parts of the work run on, also where the system allows few or none.

use nix::sys::signal::{SigSet, Signal};
use rayon::{ThreadBuilder, ThreadPoolBuilder};
use std::io;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread;

/// They are started once.
static STARTED: Once = Once::new();

/// Starts the threads that parallel parts run on where nobody asks for others, one a processor or
/// as many as the system starts. Where it starts none, this thread does the work alone. A second
/// call does nothing.
pub fn start_workers() {
    STARTED.call_once(start);
}

fn start() {
    // Threads first: a pool that gets fewer than it asks for can't be asked for again.
    let (sender, receiver) = channel::<ThreadBuilder>();
    let receiver = Arc::new(Mutex::new(receiver));
    let start = || {
        let receiver = Arc::clone(&receiver);
        let work = move || {
            // The first thread handles it. One that may put it off must not find that another
            // thread took it.
            let _ = SigSet::from(Signal::SIGTSTP).thread_block();
            let part = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
            // There is none where somebody else has made the pool.
            if let Ok(part) = part {
                part.run();
            }
        };
        thread::Builder::new().name("worker".to_owned()).spawn(work)
    };
    let wanted = thread::available_parallelism().map_or(1, usize::from);
    let started = (0..wanted).take_while(|_| start().is_ok()).count();
    if started == 0 {
        // The alternative is a panic. Fails where somebody else has made a pool.
        let _ = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
        return;
    }
    let pool = ThreadPoolBuilder::new().num_threads(started);
    // Fails where there is one.
    let _ = pool
        .spawn_handler(|part| sender.send(part).map_err(|_| io::ErrorKind::BrokenPipe.into()))
        .build_global();
}
