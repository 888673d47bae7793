//! Simulations that run at once.

use goalc::driver::Options;
use rayon::prelude::*;

/// Returns the results of `work` in the order of the items. All threads work.
pub(crate) fn each<T: Sync, R: Send>(
    options: &Options,
    items: &[T],
    work: impl Fn(&T) -> R + Sync + Send,
) -> Vec<R> {
    options.with_threads(|| match rayon::current_thread_index() {
        Some(_) => items.par_iter().map(work).collect(),
        None => items.iter().map(work).collect(),
    })
}
