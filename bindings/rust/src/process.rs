//! Keeps the state of the group in this process: not begun, begun, in use or finalized. A forked
//! child does not inherit the state.
//!
//! A forked child has copies of the rank's handles and locks, and maps the rank's part of the
//! segment. But the child is not a rank, so it must not use any of them. A copied lock may be held
//! for ever. Nor may it own the bias of the engine lock. The state and the bias lie in a page that
//! the system clears in each child, however the child was made. On systems without such pages, a
//! handler that `fork` calls clears them.
//!
//! A child of `vfork` shares its parent's memory until it executes a program. This module can't
//! distinguish such a child from its parent.
#![allow(unsafe_code)] // memory that forks don't have, and a handler of forks

use crate::biased;
use crate::error::{Error, ErrorCode, Result};
use goal_sync::bias::Bias;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The number of bytes that the system is asked to clear in a child. If pages are larger, only the
/// handler clears the state.
const PAGE_BYTES: usize = 4096;

/// The words that a fork must not inherit, in a page of their own. Zeros mean no group and no bias.
#[repr(C, align(4096))]
struct OwnPage {
    state: AtomicU32,
    bias: Bias,
}

static PAGE: OwnPage =
    OwnPage { state: AtomicU32::new(GroupState::None as u32), bias: Bias::new() };

/// True in a process that has begun to join a group, and in forks of it.
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);

/// The state of the group in this process.
#[derive(Clone, Copy)]
#[repr(u32)]
pub(crate) enum GroupState {
    /// The process has not begun to join, or is a fork of one that has.
    None,
    /// The process has begun to join the group.
    Begun,
    /// The process is a rank.
    Used,
    /// The process was a rank, and has finalized the group.
    Finalized,
}

impl GroupState {
    /// Returns true if the group is in this state.
    #[inline]
    pub(crate) fn is(self) -> bool {
        PAGE.state.load(Ordering::Acquire) == self as u32
    }

    /// Makes this the state of the group.
    pub(crate) fn enter(self) {
        PAGE.state.store(self as u32, Ordering::Release);
    }
}

/// Clears the state and the bias. The C library calls this in the child after a fork.
extern "C" fn forked() {
    GroupState::None.enter();
    PAGE.bias.forget();
}

/// Returns the bias of the engine lock. A fork never owns it.
pub(crate) fn bias() -> &'static Bias {
    &PAGE.bias
}

/// Returns true if this process is a fork of a process that had begun to join a group.
#[inline]
pub(crate) fn is_fork() -> bool {
    GroupState::None.is() && HAS_BEGUN.load(Ordering::Relaxed)
}

/// Returns the error of a call in a fork, when only a rank may make this call.
#[cold]
pub(crate) fn of_fork() -> Error {
    Error::new(ErrorCode::Init, "this process is a fork of a rank, and no rank itself")
}

/// Ends this process, a fork that was made in a function of the program and has returned from it.
/// Such a fork is in the middle of an action of its parent's schedule, or is a copy of a thread of
/// the library.
#[cold]
pub(crate) fn end_fork() -> ! {
    const TEXT: &[u8] =
        b"goal: a forked child returned from a function that the library has called: \
                          call exec or _exit in the child\n";
    // A thread of the parent may have held the lock of standard error.
    // SAFETY: the text is a constant. No destructor runs, since those of the parent's objects must
    // not.
    unsafe {
        libc::write(libc::STDERR_FILENO, TEXT.as_ptr().cast(), TEXT.len());
        libc::_exit(1)
    }
}

/// Notes that this process begins to join a group. From now on, forks of this process know that
/// they are forks.
///
/// # Errors
/// There is no memory.
pub(crate) fn begin() -> Result<()> {
    // SAFETY: the handler only uses an atomic. The page holds nothing that a child needs; a system
    // that can't clear it refuses.
    unsafe {
        if libc::pthread_atfork(None, None, Some(forked)) != 0 {
            return Err(Error::new(ErrorCode::Memory, "there is no memory for a handler of forks"));
        }
        libc::madvise((&raw const PAGE).cast_mut().cast(), PAGE_BYTES, libc::MADV_WIPEONFORK);
    }
    biased::offer(&PAGE.bias);
    GroupState::Begun.enter();
    HAS_BEGUN.store(true, Ordering::Relaxed);
    Ok(())
}
