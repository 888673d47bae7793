//! Work on each body of a program. A small program is done on the calling thread: one that builds
//! its own graph at run time needs no pool of threads for it.

use goal_lang::Body;
use rayon::prelude::*;

/// Calls `work` for each body with its index, and returns what it returned in their order. The
/// calls are on the ambient rayon pool if the program is large.
pub(crate) fn of_bodies<R: Send>(
    bodies: &mut [Body],
    work: impl Fn(usize, &mut Body) -> R + Send + Sync,
) -> Vec<R> {
    if bodies.iter().map(Body::len).sum::<usize>() < PARALLEL_ACTIONS {
        return bodies.iter_mut().enumerate().map(|(index, body)| work(index, body)).collect();
    }
    bodies.par_iter_mut().enumerate().map(|(index, body)| work(index, body)).collect()
}

/// The fewest actions that are worth more than one thread.
const PARALLEL_ACTIONS: usize = 4096;
