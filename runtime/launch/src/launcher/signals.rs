//! Handles signals that end or stop the launcher.
//!
//! A signal only sets a flag, which the launcher polls. A signal that was ignored when the launcher
//! was started stays ignored. Examples are SIGHUP under `nohup`, and SIGINT of a background job.
//!
//! `unsafe`: system calls that read and change the actions of signals.
#![allow(unsafe_code)]

use super::forwarded::{handle, is_ignored};
use super::options::Options;
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use std::io;
use std::mem::MaybeUninit;
use std::panic::resume_unwind;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// The signals that end a job.
const ENDING: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Installs handlers for the signals that end a job. Returns a variable that is 0, and later the
/// number of such a signal. SIGCHLD has a handler too, whose only effect is to end the launcher's
/// sleep, so that it looks at its ranks.
///
/// # Errors
/// The system does not allow signals to be handled.
pub fn interrupted() -> io::Result<Arc<AtomicUsize>> {
    let interrupted = Arc::new(AtomicUsize::new(0));
    for signal in ENDING {
        let flag = Arc::clone(&interrupted);
        handle(signal, || signal_hook::flag::register_usize(signal, flag, signal as usize))?;
    }
    // The process that started this one may have blocked these signals for its own threads.
    let ending: SigSet = ENDING.into_iter().flat_map(Signal::try_from).collect();
    ending.thread_unblock()?;
    keep_children();
    signal_hook::flag::register(libc::SIGCHLD, Arc::default())?;
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

/// Calls `work` in a new thread. This thread and its threads block SIGTSTP, so that only the
/// calling thread takes it. So the signal stops the process at once, and can be handled later. If
/// the system starts no thread, the calling thread does the work. Then a signal stops it only
/// afterwards.
pub fn beside_stops<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let before = stopping().thread_swap_mask(SigmaskHow::SIG_BLOCK);
    let restore = || before.as_ref().is_ok_and(|before| before.thread_set_mask().is_ok());
    let mut work = Some(work);
    let mut run = || work.take().map(|work| work());
    let done = thread::scope(|scope| {
        // The new thread inherits the signal mask.
        let builder = thread::Builder::new().name("work".to_owned());
        let thread = builder.spawn_scoped(scope, &mut run).ok()?;
        restore();
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    });
    let done = done.or_else(run).expect("the work is done once");
    restore();
    done
}

/// Restores the default actions of the handled signals, for a process that no longer polls the
/// flags. Ignored signals stay ignored, and flags stay set.
pub fn unattended() {
    for signal in ENDING.into_iter().chain([libc::SIGTSTP]) {
        if !is_ignored(signal) {
            // SAFETY: the default action runs no code, and signal-hook does not rely on a call of
            // the handler that it replaces.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
    }
}

/// Makes the system keep the exit status of children until they are waited for. If SIGCHLD is
/// ignored, which may be inherited from the parent, the system discards it.
pub(super) fn keep_children() {
    if is_ignored(libc::SIGCHLD) {
        // SAFETY: the default action runs no code.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    }
}

/// Defers SIGTSTP while this value lives. If the signal came meanwhile, it is handled when the
/// value is dropped.
///
/// This is for the start of a child. A terminal sends the signal to the whole process group, which
/// the child leaves only after a moment. If a child stops before it executes its program, its
/// parent waits for it and can't be interrupted. So the signal is blocked in the parent and in the
/// child, which inherits the mask. It is not ignored, because that would discard a pending signal.
pub(super) struct Deferred(SigSet);

impl Deferred {
    /// Blocks the signal in the calling thread. Each child must call [`stop_as_usual`].
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self(stopping().thread_swap_mask(SigmaskHow::SIG_BLOCK)?))
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        let _ = self.0.thread_set_mask();
    }
}

fn stopping() -> SigSet {
    SigSet::from(Signal::SIGTSTP)
}

/// Makes SIGTSTP stop this process again. It is a rank that was started while its launcher deferred
/// the signal. Discards a pending SIGTSTP, which was meant for the launcher; that stops its ranks
/// itself.
pub(super) fn stop_as_usual() {
    // SAFETY: neither action runs code. Ignoring a signal discards it if it is pending.
    unsafe {
        libc::signal(libc::SIGTSTP, libc::SIG_IGN);
        libc::signal(libc::SIGTSTP, libc::SIG_DFL);
    }
    let _ = stopping().thread_unblock();
}

/// The text for the user if a terminal asks a job on several hosts to stop.
const NOT_SUSPENDED: &str = "not stopped: this job runs on several hosts, and the others would take this one for lost; Ctrl-C ends it on all";

/// Calls `stop` if a terminal asked for it and the job is on one host. On several hosts, tells the
/// user why the job is not stopped.
pub(super) fn if_suspended(options: &Options, on_hosts: bool, stop: impl FnOnce()) {
    if options.suspended.swap(false, Ordering::SeqCst) {
        if on_hosts { (options.tell)(NOT_SUSPENDED) } else { stop() }
    }
}

/// Handles signals in a launcher that is busy after its ranks have ended. Stops this process if a
/// terminal asked for it and the job was on one host. Returns the signal that asks for an end, if
/// any.
pub fn attend(options: &Options, on_hosts: bool) -> Option<usize> {
    if_suspended(options, on_hosts, stop_here);
    Some(options.interrupted.load(Ordering::SeqCst)).filter(|&signal| signal != 0)
}

/// Stops this process like the default action of SIGTSTP. Returns after the process was continued.
/// Returns at once if its process group is orphaned. No process could continue this one then, so
/// the system discards the signal.
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

/// Restores the default actions of SIGSEGV and SIGBUS, so that they end the process. Rust's runtime
/// handles them to report stack overflows. Its handlers ignore the first signal that another
/// process sends, so a rank would survive it.
pub(super) fn end_on_faults() {
    for signal in [libc::SIGSEGV, libc::SIGBUS] {
        // SAFETY: the default action runs no code, and nothing relies on the replaced handler.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_that_is_pending_before_it_is_deferred_is_not_lost() {
        let suspended = suspended().unwrap();
        let before = stopping().thread_swap_mask(SigmaskHow::SIG_BLOCK).unwrap();
        nix::sys::signal::raise(Signal::SIGTSTP).unwrap();
        drop(Deferred::new().unwrap());
        assert!(!suspended.load(Ordering::SeqCst));
        before.thread_set_mask().unwrap();
        assert!(suspended.load(Ordering::SeqCst));
    }
}
