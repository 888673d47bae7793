//! Models of the lock-free structures. Loom runs the structures themselves in every interleaving of
//! a few threads that the memory model of C++20 allows.
//!
//! `RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test -p goal-sync --release --lib
//! models` runs them. A model fails if two accesses to the same bytes race and one of them writes,
//! if all threads sleep, or if an assertion does not hold. Each model prints how many interleavings
//! it has.

mod bias;
mod board;
mod directory;
mod mailbox;
mod napping;
mod rings;
mod start_barrier;
mod tasks;
mod turn;

use loom::model::Builder;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Runs all interleavings of `model`. With `switches`, runs only interleavings with at most that
/// many preemptions: switches from a thread that could go on.
fn explore(name: &str, switches: Option<usize>, model: impl Fn() + Sync + Send + 'static) {
    let interleavings = Arc::new(AtomicU64::new(0));
    let mut builder = Builder::new();
    // Without `switches`, the environment may set a bound.
    builder.preemption_bound = switches.or(builder.preemption_bound);
    let counted = Arc::clone(&interleavings);
    builder.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        model();
    });
    println!("{name}: {} interleavings", interleavings.load(Ordering::Relaxed));
}

/// A value that the threads of a model share.
fn shared<T>(value: T) -> loom::sync::Arc<T> {
    loom::sync::Arc::new(value)
}
