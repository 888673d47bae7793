//! The state of the group in this process: not begun, begun, in use or finalized. A forked child
//! does not inherit it.
//!
//! A forked child has copies of the rank's handles and locks, and maps the rank's part of the
//! segment. But it is not a rank, so it must not use any of these. A copied lock may be held for
//! ever. The state lies in a page that the system clears in each child, however the child was made.
//! A handler that `fork` calls clears it too, for systems without such pages.
//!
//! A child of `vfork` shares its parent's memory until it executes a program. So this module can't
//! tell it from its parent.
#![allow(unsafe_code)] // memory that forks don't have, and a handler of forks

use crate::error::{Error, ErrorCode, Result};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The bytes that are cleared together. If pages are larger, the handler alone clears the state.
const PAGE_BYTES: usize = 4096;

/// A word in a page of its own.
#[repr(C, align(4096))]
struct OwnPage(AtomicU32);

static STATE: OwnPage = OwnPage(AtomicU32::new(GroupState::None as u32));

/// True in a process that has begun to join a group, and in its forks.
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);

/// The state of the group in this process.
#[derive(Clone, Copy)]
#[repr(u32)]
pub(crate) enum GroupState {
    /// The process has not begun to join, or is a fork of one that has.
    None,
    /// It has begun.
    Begun,
    /// It is a rank.
    Used,
    /// It was one.
    Finalized,
}

impl GroupState {
    /// Returns true if the group is in this state.
    #[inline]
    pub(crate) fn is(self) -> bool {
        STATE.0.load(Ordering::Acquire) == self as u32
    }

    /// Enters the state.
    pub(crate) fn enter(self) {
        STATE.0.store(self as u32, Ordering::Release);
    }
}

/// Called by the C library in the child after a fork.
extern "C" fn forked() {
    GroupState::None.enter();
}

/// Returns true if this process is a fork of one that had begun to join a group.
#[inline]
pub(crate) fn is_fork() -> bool {
    GroupState::None.is() && HAS_BEGUN.load(Ordering::Relaxed)
}

/// Returns the error of a call that only a rank may make.
#[cold]
pub(crate) fn of_fork() -> Error {
    Error::new(ErrorCode::Init, "this process is a fork of a rank, and no rank itself")
}

/// Ends a fork that has returned from a function which its parent's schedule has called: it is in
/// the middle of an action of the rank.
#[cold]
pub(crate) fn end_fork() -> ! {
    const TEXT: &[u8] =
        b"goal: a forked child returned from a function that a schedule has called: \
                          call exec or _exit in the child\n";
    // A thread of the parent may have held the lock of standard error.
    // SAFETY: the text is a constant. No destructor runs, since those of the parent's objects must
    // not.
    unsafe {
        libc::write(libc::STDERR_FILENO, TEXT.as_ptr().cast(), TEXT.len());
        libc::_exit(1)
    }
}

/// Notes that this process begins to join a group: its forks know from now on that they are forks.
///
/// # Errors
/// There is no memory.
pub(crate) fn begin() -> Result<()> {
    // SAFETY: the handler only uses an atomic. The page holds nothing but the state; a system that
    // can't clear it refuses.
    unsafe {
        if libc::pthread_atfork(None, None, Some(forked)) != 0 {
            return Err(Error::new(ErrorCode::Memory, "there is no memory for a handler of forks"));
        }
        libc::madvise((&raw const STATE).cast_mut().cast(), PAGE_BYTES, libc::MADV_WIPEONFORK);
    }
    GroupState::Begun.enter();
    HAS_BEGUN.store(true, Ordering::Relaxed);
    Ok(())
}
