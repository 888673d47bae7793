//! Handles the signals that the launcher passes on to ranks. Each signal sets a flag.
//!
//! `unsafe`: a system call that reads the action of a signal.
#![allow(unsafe_code)]

use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use signal_hook::SigId;
use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The signals that are passed on to the ranks of a program, as `mpirun` does. Batch systems send
/// some of them before they end a job.
const FORWARDED: [i32; 8] = [
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGIO,
    libc::SIGPWR,
    libc::SIGXCPU,
];

/// A flag for each signal that is passed on. It is set when the signal arrives.
#[derive(Debug, Clone, Default)]
pub struct Forwarded(Vec<(i32, Arc<AtomicBool>)>);

impl Forwarded {
    /// Installs handlers for the signals that are passed on.
    ///
    /// # Errors
    /// The system does not allow signals to be handled.
    pub fn handle() -> io::Result<Self> {
        let mut all = Vec::new();
        for signal in FORWARDED {
            let flag = Arc::new(AtomicBool::new(false));
            all.push((signal, Arc::clone(&flag)));
            handle(signal, || signal_hook::flag::register(signal, flag))?;
        }
        Ok(Self(all))
    }

    /// Returns the signals that have arrived since the last call.
    pub(super) fn take(&self) -> impl Iterator<Item = i32> {
        let has_come = |flag: &AtomicBool| flag.swap(false, Ordering::SeqCst);
        self.0.iter().filter(move |(_, flag)| has_come(flag)).map(|&(signal, _)| signal)
    }

    /// Returns true if launchers pass on this signal.
    pub(super) fn has(signal: i32) -> bool {
        FORWARDED.contains(&signal)
    }
}

/// Calls `register` for a signal that is not ignored, and blocks the signal meanwhile. Otherwise
/// signal-hook would lose a signal that arrives after the default action was replaced and before
/// the flag is registered. Other threads of this process must have blocked the signal: see
/// [`beside_stops`](super::beside_stops).
pub(super) fn handle(signal: i32, register: impl FnOnce() -> io::Result<SigId>) -> io::Result<()> {
    if is_ignored(signal) {
        return Ok(());
    }
    let blocked = SigSet::from(Signal::try_from(signal)?);
    let before = blocked.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
    let registered = register();
    before.thread_set_mask()?;
    registered.map(drop)
}

/// Returns true if this process ignores a signal.
pub(super) fn is_ignored(signal: i32) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: the call sets no action. If it succeeds, it has written `action`.
    unsafe {
        libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}
