//! The error of a heap that has no room left.
//!
//! Every collection may grow with every value, and nobody who adds one could go on without it. So
//! what was done is left as with a panic, up to [`within`], which makes an error of it. Nothing can
//! be done with the values of the heap after that; they stay sound, as a block is there before
//! anything is moved to it.

use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The memory for an engine's state is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error(
    "what it remembers of messages and actions needs {} MiB of memory and has {} MiB: --unexpected-limit {} gives it that",
    needed.div_ceil(1 << 20), room >> 20, needed.next_power_of_two() / STATE_PER_LIMIT
)]
pub struct UsedUp {
    /// Bytes that were needed in all.
    pub needed: u64,
    /// Bytes that there are.
    pub room: u64,
}

/// Bytes of an engine's state for each byte of messages without a receive that it may keep: blocks
/// have sizes of powers of two, and move when they grow.
pub(crate) const STATE_PER_LIMIT: u64 = 4;

thread_local! {
    /// True if [`within`] waits for it.
    static IS_AWAITED: Cell<bool> = const { Cell::new(false) };
}

/// Calls `f`. A heap that it uses up is an error.
///
/// # Errors
/// [`UsedUp`]: the engine over that heap must not be used any more.
pub fn within<R>(f: impl FnOnce() -> R) -> Result<R, UsedUp> {
    let was_awaited = IS_AWAITED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(f));
    IS_AWAITED.set(was_awaited);
    done.map_err(|panic| match panic.downcast::<UsedUp>() {
        Ok(used_up) => *used_up,
        Err(panic) => resume_unwind(panic),
    })
}

/// # Panics
/// Always, where nobody awaits it.
#[cold]
pub(super) fn used_up(needed: u64, room: u64) -> ! {
    let used_up = UsedUp { needed, room };
    if IS_AWAITED.get() {
        // Not as a panic, of which the system's log would tell.
        resume_unwind(Box::new(used_up));
    }
    panic!("{used_up}");
}
