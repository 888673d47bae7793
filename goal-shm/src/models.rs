//! Models: the structures as they are, in every interleaving of a few threads that the memory model
//! of C++20 allows.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p goal-run --release --lib models` runs them. Loom fails a
//! model where two accesses to the same bytes meet of which one writes, where all threads sleep,
//! and where an assertion does not hold. Each model prints how many interleavings it took.

mod boxes;
mod meetings;
mod rings;
mod sleepers;
mod tasks;
mod turns;

use loom::model::Builder;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Tries all interleavings of `model`, or those with at most `switches` switches away from a thread
/// that could go on.
fn explore(name: &str, switches: Option<usize>, model: impl Fn() + Sync + Send + 'static) {
    let interleavings = Arc::new(AtomicU64::new(0));
    let mut builder = Builder::new();
    // Unless the environment says more exactly what to do.
    builder.preemption_bound = switches.or(builder.preemption_bound);
    let counted = Arc::clone(&interleavings);
    builder.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        model();
    });
    println!("{name}: {} interleavings", interleavings.load(Ordering::Relaxed));
}

/// Something that threads of a model share.
fn shared<T>(value: T) -> loom::sync::Arc<T> {
    loom::sync::Arc::new(value)
}
