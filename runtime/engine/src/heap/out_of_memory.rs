//! The error of a heap that has no room left.
//!
//! Every collection may grow whenever a value is added, and its callers could not continue without
//! the value. So an exhausted heap unwinds to [`within`], which returns an error. The values of the
//! heap must not be used after that. They stay sound, as a new block is allocated before anything
//! is moved to it.
#![allow(unsafe_code)] // a look-up of a variable of the thread, once a call

use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The memory for an engine's state is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error(
    "what it remembers of messages and actions needs {} MiB of memory and has {} MiB: an unexpected limit of {} bytes gives it that",
    needed.div_ceil(1 << 20), room >> 20, needed.next_power_of_two() / STATE_PER_LIMIT
)]
pub struct OutOfMemory {
    /// The bytes that the state of the engine needed in all.
    pub needed: u64,
    /// Bytes that the heap has.
    pub room: u64,
}

/// The bytes of an engine's state for each byte of its limit on unexpected messages. Messages need
/// more than their bytes, because blocks have sizes of powers of two and are copied when they grow.
pub(crate) const STATE_PER_LIMIT: u64 = 4;

thread_local! {
    /// True while a call of [`within`] is on the stack.
    static IS_AWAITED: Cell<bool> = const { Cell::new(false) };
}

/// Calls `f`. Returns an error if `f` uses up a heap. Without this call, a method of an engine
/// whose heap is used up panics.
///
/// # Errors
/// [`OutOfMemory`]: the engine over that heap must not be used any more.
#[inline]
pub fn within<R>(f: impl FnOnce() -> R) -> Result<R, OutOfMemory> {
    // The thread's variable is looked up only once, because in a shared library each look-up is a
    // call. It returns a pointer, because a closure around `f` would become a function of its own.
    let is_awaited = IS_AWAITED.with(std::ptr::from_ref);
    // SAFETY: the variable is this thread's, which is in this function, and has no destructor.
    let is_awaited = unsafe { &*is_awaited };
    let was_awaited = is_awaited.replace(true);
    let done = catch_unwind(AssertUnwindSafe(f));
    is_awaited.set(was_awaited);
    done.map_err(|panic| match panic.downcast::<OutOfMemory>() {
        Ok(used_up) => *used_up,
        Err(panic) => resume_unwind(panic),
    })
}

/// # Panics
/// Always, if no call of [`within`] is on the stack.
#[cold]
pub(super) fn used_up(needed: u64, room: u64) -> ! {
    let used_up = OutOfMemory { needed, room };
    if IS_AWAITED.get() {
        // Not `panic!`, which would call the panic hook and print a message.
        resume_unwind(Box::new(used_up));
    }
    panic!("{used_up}");
}
