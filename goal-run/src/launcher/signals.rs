//! Signals that end or stop a launcher.
//!
//! Any process of the same user may send them, and a terminal does. They change nothing but two
//! flags, which the launcher looks at between other things. A signal that was ignored when the
//! launcher was started, as SIGHUP below `nohup` or SIGINT of a background job, stays ignored.
//!
//! `unsafe`: reading and changing what a signal does.
#![allow(unsafe_code)]

use super::Options;
use nix::sys::signal::SigSet;
use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Signals that ask for an end.
const ENDING: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Returns the number of the signal that asks for an end, 0 until there is one.
///
/// # Errors
/// The system doesn't allow signals to be handled.
pub fn interrupted() -> io::Result<Arc<AtomicUsize>> {
    let interrupted = Arc::new(AtomicUsize::new(0));
    for signal in ENDING {
        if !is_ignored(signal) {
            signal_hook::flag::register_usize(signal, Arc::clone(&interrupted), signal as usize)?;
        }
    }
    Ok(interrupted)
}

/// Returns a flag that becomes true when a terminal asks this process to stop (Ctrl-Z).
///
/// # Errors
/// The system doesn't allow the signal to be handled.
pub fn suspended() -> io::Result<Arc<AtomicBool>> {
    let suspended = Arc::new(AtomicBool::new(false));
    if !is_ignored(libc::SIGTSTP) {
        signal_hook::flag::register(libc::SIGTSTP, Arc::clone(&suspended))?;
    }
    Ok(suspended)
}

/// Lets signals do again what they do where nobody handles them, but those that are ignored: for a
/// process that looks at none any more. What came before is still told.
pub fn unattended() {
    for signal in ENDING.into_iter().chain([libc::SIGTSTP]) {
        if !is_ignored(signal) {
            // SAFETY: the default action runs no code. A handler of signal-hook does not rely on
            // being called.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
    }
}

fn is_ignored(signal: i32) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: no action is set; where the call succeeds it has written what is read.
    unsafe {
        libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// Has the system keep how a child ended until it is waited for. A process whose parent ignored
/// SIGCHLD would be told nothing.
pub(super) fn keep_children() {
    if is_ignored(libc::SIGCHLD) {
        // SAFETY: the default action runs no code.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    }
}

/// Puts off SIGTSTP for as long as it lives: the flag is set when it is dropped. A terminal also
/// sends the signal to a child that has not left the group yet. Stopped before it executes its
/// program, the child would stop its parent, which waits for that, in a way that only SIGKILL ends.
/// A signal that is blocked and ignored stays pending here, and is passed over in the child, whose
/// mask is empty. Other threads of this process must block it as well.
pub(super) struct PutOff(libc::sigaction);

impl PutOff {
    /// The child inherits that SIGTSTP is ignored, and should call [`stop_as_usual`].
    pub(super) fn new() -> io::Result<Self> {
        stopping().thread_block()?;
        // SAFETY: all zeros is a valid action.
        let mut ignored: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        ignored.sa_sigaction = libc::SIG_IGN;
        let mut before = MaybeUninit::uninit();
        // SAFETY: ignoring runs no code; where the call succeeds it has written what is read.
        unsafe {
            if libc::sigaction(libc::SIGTSTP, &ignored, before.as_mut_ptr()) != 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Self(before.assume_init()))
        }
    }
}

impl Drop for PutOff {
    fn drop(&mut self) {
        // SAFETY: it is the action of before, and its handler is still there.
        unsafe { libc::sigaction(libc::SIGTSTP, &self.0, ptr::null_mut()) };
        let _ = stopping().thread_unblock();
    }
}

fn stopping() -> SigSet {
    SigSet::from(nix::sys::signal::Signal::SIGTSTP)
}

/// Lets SIGTSTP stop this process, though a launcher puts it off while it starts ranks.
pub(super) fn stop_as_usual() {
    // SAFETY: the default action runs no code.
    unsafe { libc::signal(libc::SIGTSTP, libc::SIG_DFL) };
}

/// Said where a terminal asks a job on several hosts to stop.
const NOT_SUSPENDED: &str = "not stopped: this job runs on several hosts, and the others would take this one for lost; Ctrl-C ends it on all";

/// Calls `stop` if a terminal asked for that, and the job is on one host.
pub(super) fn if_suspended(options: &Options, on_hosts: bool, stop: impl FnOnce()) {
    if options.suspended.swap(false, Ordering::SeqCst) {
        if on_hosts { (options.tell)(NOT_SUSPENDED) } else { stop() }
    }
}

/// For a launcher whose ranks have ended, and which is still busy: stops this process if a terminal
/// asked for that, and the job was on one host. Returns the number of a signal that asks for an
/// end.
pub fn attend(options: &Options, on_hosts: bool) -> Option<usize> {
    if_suspended(options, on_hosts, stop_here);
    Some(options.interrupted.load(Ordering::SeqCst)).filter(|&signal| signal != 0)
}

/// Stops this process as SIGTSTP does where nobody handles it, and returns when it has been
/// continued. Returns at once where the system passes over the signal, as nobody could continue
/// this process (its process group is orphaned).
pub(super) fn stop_here() {
    let mut before = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: all zeros is a valid action: the default one, no flags, an empty mask.
    let default: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    // SAFETY: the default action runs no code. What was there before is put back, a handler of
    // signal-hook, which does not rely on being the only one that looks at the signal.
    unsafe {
        if libc::sigaction(libc::SIGTSTP, &default, before.as_mut_ptr()) == 0 {
            libc::raise(libc::SIGTSTP);
            libc::sigaction(libc::SIGTSTP, before.as_ptr(), ptr::null_mut());
        }
    }
}

/// Lets SIGSEGV and SIGBUS end the process. Rust's runtime handles them, to tell of overflown
/// stacks, and passes over the first one that somebody else sends: a rank would live on that should
/// have died.
pub(super) fn end_on_faults() {
    for signal in [libc::SIGSEGV, libc::SIGBUS] {
        // SAFETY: the default action runs no code, and nothing relies on the handler that it
        // replaces.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}
