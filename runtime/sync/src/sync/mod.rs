//! The building blocks of the lock-free structures: atomics, guarded cells, futexes and bells. They
//! are either native ones or those of loom.
//!
//! With `--cfg loom` loom allocates the structures, which are otherwise cast from the mapping, and
//! tries every interleaving of a few threads: see `models`. Only this module depends on that flag.

#[cfg(loom)]
mod model;
#[cfg(not(loom))]
mod native;

#[cfg(all(test, loom))]
pub(crate) use model::Lines;
#[cfg(loom)]
pub(crate) use model::{
    AtomicU32, AtomicU64, Block, Futex, SharedCell, fence, light_fence, membarrier,
    register_for_membarrier,
};
#[cfg(loom)]
pub use model::{Bell, Bytes, Lent};
#[cfg(not(loom))]
pub(crate) use native::{
    AtomicU32, AtomicU64, Block, Futex, SharedCell, fence, light_fence, membarrier,
    register_for_membarrier,
};
#[cfg(not(loom))]
pub use native::{Bell, Bytes, Lent};
pub(crate) use std::sync::atomic::Ordering;

/// The bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// A value that shares no cache line with others.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Line<T>(pub(crate) T);
