//! Signals that end or stop a launcher.
//!
//! A signal only sets a flag, which the launcher polls. A signal that was ignored when the launcher
//! was started, as SIGHUP below `nohup` or SIGINT of a background job, stays ignored.
//!
//! `unsafe`: system calls that read and change the actions of signals.
#![allow(unsafe_code)]

use super::options::Options;
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use signal_hook::SigId;
use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The signals that end a job.
const ENDING: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Handles the signals that end a job. Returns a variable that is 0 until one comes, and then its
/// number.
///
/// # Errors
/// The system does not allow signals to be handled.
pub fn interrupted() -> io::Result<Arc<AtomicUsize>> {
    let interrupted = Arc::new(AtomicUsize::new(0));
    for signal in ENDING {
        let flag = Arc::clone(&interrupted);
        handle(signal, || signal_hook::flag::register_usize(signal, flag, signal as usize))?;
    }
    Ok(interrupted)
}

/// Handles SIGTSTP, by which a terminal asks this process to stop (Ctrl-Z). Returns a flag that the
/// signal sets.
///
/// # Errors
/// The system does not allow the signal to be handled.
pub fn suspended() -> io::Result<Arc<AtomicBool>> {
    let suspended = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&suspended);
    handle(libc::SIGTSTP, || signal_hook::flag::register(libc::SIGTSTP, flag))?;
    Ok(suspended)
}

/// Calls `register` for a signal that is not ignored. The signal is blocked meanwhile: signal-hook
/// would lose one that comes after it has replaced the default action and before it knows the flag.
fn handle(signal: i32, register: impl FnOnce() -> io::Result<SigId>) -> io::Result<()> {
    if is_ignored(signal) {
        return Ok(());
    }
    let blocked = SigSet::from(Signal::try_from(signal)?);
    let before = blocked.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
    let registered = register();
    before.thread_set_mask()?;
    registered.map(drop)
}

/// Does work whose threads must never take SIGTSTP, not even before they run for the first time:
/// this thread may defer the signal while some of them still end. They inherit its mask. A signal
/// that comes meanwhile is handled afterwards.
pub fn without_stops<T>(work: impl FnOnce() -> T) -> T {
    let before = stopping().thread_swap_mask(SigmaskHow::SIG_BLOCK);
    let result = work();
    if let Ok(before) = before {
        let _ = before.thread_set_mask();
    }
    result
}

/// Restores the default actions of the handled signals, for a process that no longer polls the
/// flags. Signals that are ignored stay so, and flags that are set stay set.
pub fn unattended() {
    for signal in ENDING.into_iter().chain([libc::SIGTSTP]) {
        if !is_ignored(signal) {
            // SAFETY: the default action runs no code, and signal-hook does not rely on a call of
            // the handler that it replaces.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
    }
}

fn is_ignored(signal: i32) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: the call sets no action. If it succeeds, it has written `action`.
    unsafe {
        libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// Makes the system keep the status of ended children until they are waited for. It would discard
/// them in a process that ignores SIGCHLD, which may have been inherited from the parent.
pub(super) fn keep_children() {
    if is_ignored(libc::SIGCHLD) {
        // SAFETY: the default action runs no code.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    }
}

/// Defers SIGTSTP while it lives; a signal that came meanwhile is handled when it is dropped.
///
/// For the start of a child. A terminal sends the signal to the whole process group, which the
/// child leaves only after a moment. A child that is stopped before it executes its program would
/// leave its parent waiting for that in an uninterruptible way. So the signal is blocked and
/// ignored: it stays pending in this process, and is discarded in the child, whose mask is empty.
/// Other threads of this process must block it as well: see [`without_stops`].
pub(super) struct Deferred(libc::sigaction);

impl Deferred {
    /// Defers the signal. A child inherits that SIGTSTP is ignored, and must call
    /// [`stop_as_usual`].
    pub(super) fn new() -> io::Result<Self> {
        stopping().thread_block()?;
        // SAFETY: all zeros is a valid action.
        let mut ignored: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        ignored.sa_sigaction = libc::SIG_IGN;
        let mut before = MaybeUninit::uninit();
        // SAFETY: ignoring runs no code. If the call succeeds, it has written `before`.
        unsafe {
            if libc::sigaction(libc::SIGTSTP, &ignored, before.as_mut_ptr()) != 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Self(before.assume_init()))
        }
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        // SAFETY: this is the earlier action, whose handler still exists.
        unsafe { libc::sigaction(libc::SIGTSTP, &self.0, ptr::null_mut()) };
        let _ = stopping().thread_unblock();
    }
}

fn stopping() -> SigSet {
    SigSet::from(Signal::SIGTSTP)
}

/// Makes SIGTSTP stop this process, a rank that was started while its launcher deferred the signal.
pub(super) fn stop_as_usual() {
    // SAFETY: the default action runs no code.
    unsafe { libc::signal(libc::SIGTSTP, libc::SIG_DFL) };
}

/// The message if a terminal asks a job on several hosts to stop.
const NOT_SUSPENDED: &str = "not stopped: this job runs on several hosts, and the others would take this one for lost; Ctrl-C ends it on all";

/// Calls `stop` if a terminal asked for it and the job is on one host.
pub(super) fn if_suspended(options: &Options, on_hosts: bool, stop: impl FnOnce()) {
    if options.suspended.swap(false, Ordering::SeqCst) {
        if on_hosts { (options.tell)(NOT_SUSPENDED) } else { stop() }
    }
}

/// Attends to signals in a launcher whose ranks have ended while it is still busy. Stops this
/// process if a terminal asked for it and the job was on one host. Returns the signal that asks for
/// an end, if one came.
pub fn attend(options: &Options, on_hosts: bool) -> Option<usize> {
    if_suspended(options, on_hosts, stop_here);
    Some(options.interrupted.load(Ordering::SeqCst)).filter(|&signal| signal != 0)
}

/// Stops this process as SIGTSTP does by default, and returns after it was continued. Returns at
/// once if the system discards the signal because no process could continue this one (its process
/// group is orphaned).
pub(super) fn stop_here() {
    let mut before = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: all zeros is a valid action: the default one, no flags, an empty mask.
    let default: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    // SAFETY: the default action runs no code. Afterwards the earlier action is restored, a handler
    // of signal-hook, which does not rely on seeing every signal.
    unsafe {
        if libc::sigaction(libc::SIGTSTP, &default, before.as_mut_ptr()) == 0 {
            libc::raise(libc::SIGTSTP);
            libc::sigaction(libc::SIGTSTP, before.as_ptr(), ptr::null_mut());
        }
    }
}

/// Makes SIGSEGV and SIGBUS end the process. Rust's runtime handles them to report stack overflows,
/// and ignores the first one that another process sends, so that a rank would survive it.
pub(super) fn end_on_faults() {
    for signal in [libc::SIGSEGV, libc::SIGBUS] {
        // SAFETY: the default action runs no code, and nothing relies on the replaced handler.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}
