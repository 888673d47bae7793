//! What the lock-free structures of the segment are made of: atomics, bytes and futexes of the
//! machine, or those of loom.
//!
//! Compiled with `--cfg loom`, the same structures are allocated by loom instead of being cast from
//! the mapping, and every interleaving of a few threads is tried: see `shm/models`. Nothing else in
//! the crate looks at that flag.

#[cfg(loom)]
mod model;
#[cfg(not(loom))]
mod native;

#[cfg(all(test, loom))]
pub(crate) use model::Lines;
#[cfg(loom)]
pub(crate) use model::{AtomicU32, AtomicU64, Bytes, Futex, Shared, fence};
#[cfg(not(loom))]
pub(crate) use native::{AtomicU32, AtomicU64, Bytes, Futex, Shared, fence};
pub(crate) use std::sync::atomic::Ordering;

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Words that share no cache line with others.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Line<T>(pub(crate) T);
