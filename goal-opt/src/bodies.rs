//! Does work on each body of a program, in parallel for a large program.
//!
//! A small program is done on the calling thread: a process that builds its own schedule at run
//! time then needs no pool of threads. Outside of a rayon pool that the caller has made, every
//! program is done on the calling thread. Rayon's own pool does not live on in a forked child.

use goal_lang::Body;
use rayon::prelude::*;

/// Calls `work` for each body with its index, and returns the results in the order of the bodies.
/// A large program is spread over the rayon pool that the caller runs on. A thread outside of any
/// pool makes the calls itself.
pub(crate) fn of_bodies<R: Send>(
    bodies: &mut [Body],
    work: impl Fn(usize, &mut Body) -> R + Send + Sync,
) -> Vec<R> {
    let is_small = bodies.iter().map(Body::len).sum::<usize>() < PARALLEL_ACTIONS;
    if is_small || rayon::current_thread_index().is_none() {
        return bodies.iter_mut().enumerate().map(|(index, body)| work(index, body)).collect();
    }
    bodies.par_iter_mut().enumerate().map(|(index, body)| work(index, body)).collect()
}

/// The fewest actions that are worth more than one thread.
const PARALLEL_ACTIONS: usize = 4096;
