//! Detects the ends of runs: tests if a run has ended, waits for its end, or calls a function at
//! its end.

use crate::error::Result;
use crate::group::Group;
use crate::progress::no_run;
use crate::slots::{EndFunction, Instance, Known, OnEnd, Sleeper, Ticket};
use crate::thread;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Returns true if a run has ended. Makes a bounded amount of progress in either case.
///
/// # Errors
/// There was no such run, or it can't go on.
#[inline]
pub fn test(ticket: Ticket) -> Result<bool> {
    Group::current()?.shared().test(ticket)
}

/// Makes a bounded amount of progress of all runs. If the job can't go on, this returns no error,
/// but the next call that needs the job does.
///
/// # Errors
/// The group is not initialized or is finalized, or a registered function calls this.
pub fn progress() -> Result<()> {
    Group::current()?.shared().progress()
}

/// Returns true if a run has ended. Makes no progress; see [`progress()`] for that.
///
/// # Errors
/// There was no such run, or it can't go on.
pub fn has_ended(ticket: Ticket) -> Result<bool> {
    Group::current()?.shared().with(|core| core.has_ended(ticket))
}

/// Waits until a run has ended. `call` names the caller's function in reports about a rank that
/// waits for ever.
///
/// # Errors
/// There was no such run, or the job can't go on.
#[inline]
pub fn wait(ticket: Ticket, call: &str) -> Result<()> {
    Group::current()?.shared().wait(ticket, call)
}

/// Waits until one of several runs has ended, and returns the index of its ticket. `call` is as for
/// [`wait`].
///
/// # Errors
/// `tickets` is empty, there was no such run, or the job can't go on.
pub fn wait_any(tickets: &[Ticket], call: &str) -> Result<usize> {
    Group::current()?.shared().wait_any(tickets, call)
}

/// Returns true if a thread waits for a run. Such a thread notices the ends of all other runs
/// meanwhile. Takes no lock, so the answer may be old. It is not older than this thread's last call
/// of [`test()`] or [`when_ended()`].
pub fn has_waiter() -> bool {
    Group::current().is_ok_and(|group| group.shared().has_waiter.load(Ordering::Relaxed))
}

/// Calls `on_end` with true when a run has ended. If the run has ended already, calls it at once;
/// otherwise in the call of this library that notices the end. If the job fails after this call and
/// before the end of the run, calls `on_end` with false.
///
/// # Errors
/// There was no such run, or the job can't go on.
pub fn when_ended(ticket: Ticket, on_end: EndFunction) -> Result<()> {
    watch(ticket, OnEnd::Call(on_end))
}

/// Lets the task in `sleeper` be woken when a run has ended, or can't go on.
pub(crate) fn wake_when_ended(ticket: Ticket, sleeper: Arc<Sleeper>) -> Result<()> {
    watch(ticket, OnEnd::Wake(sleeper))
}

/// Calls `f`. If `f` notices ends of runs, the functions for these ends are called when `f` has
/// returned. Callers use this if they hold locks that these functions may take.
pub fn put_off<R>(f: impl FnOnce() -> R) -> R {
    match Group::current() {
        Ok(group) => thread::put_off(group.shared(), f),
        Err(_) => f(),
    }
}

/// Forgets which calls and schedules were made lately, because a communicator is freed.
pub fn forget_calls() {
    if let Ok(group) = Group::current() {
        let _ = group.shared().with(|core| {
            core.recent.clear();
            Ok(())
        });
    }
}

/// Frees the numbers and collectives of communicators that nobody uses any more. The creation of a
/// communicator does this too. Bindings call it after they have freed an object. The caller must
/// hold no lock that functions for ends of runs may take.
pub fn tidy() {
    if let Ok(group) = Group::current() {
        group.shared().tidy();
    }
}

fn watch(ticket: Ticket, on_end: OnEnd) -> Result<()> {
    let shared = Group::current()?.shared();
    let is_in_kernel = shared.with(|core| {
        if matches!(core.slots.known(ticket), Known::Never) {
            return Err(no_run());
        }
        core.watch(ticket, on_end)?;
        let running = core.slots.running_of(ticket);
        Ok(matches!(running, Some(Instance::Kernel(_))))
    })?;
    if is_in_kernel {
        shared.look_at_kernel();
    }
    Ok(())
}
