//! The state of the group in this process, which a fork changes.
#![allow(unsafe_code)] // registers a handler of forks

use crate::error::{Error, ErrorCode, Result};
use std::sync::atomic::{AtomicU8, Ordering};

static STATE: AtomicU8 = AtomicU8::new(State::None as u8);

/// The state of the group in this process.
#[derive(Clone, Copy)]
#[repr(u8)]
pub(crate) enum State {
    /// It is not initialized.
    None,
    /// It is initialized.
    Used,
    /// It is finalized.
    Finalized,
    /// The process is a fork of a rank. The rank's memory in the job is its parent's.
    Fork,
}

impl State {
    /// Returns true if the group is in this state.
    #[inline]
    pub(crate) fn is(self) -> bool {
        STATE.load(Ordering::Acquire) == self as u8
    }

    /// Enters the state.
    pub(crate) fn enter(self) {
        STATE.store(self as u8, Ordering::Release);
    }
}

/// Called by the C library in the child after a fork.
extern "C" fn forked() {
    if !State::None.is() {
        State::Fork.enter();
    }
}

/// Returns the error of a call that only a rank may make.
#[cold]
pub(crate) fn is_fork() -> Error {
    Error::new(ErrorCode::Init, "this process is a fork of a rank, and no rank itself")
}

/// Notes from now on if this process is a fork.
///
/// # Errors
/// There is no memory.
pub(crate) fn follow_forks() -> Result<()> {
    // SAFETY: the handler only uses an atomic.
    if unsafe { libc::pthread_atfork(None, None, Some(forked)) } != 0 {
        return Err(Error::new(ErrorCode::Memory, "there is no memory for a handler of forks"));
    }
    Ok(())
}
