//! Detects the ends of runs: tests for an end, waits for it, or calls a function at it.

use crate::error::Result;
use crate::group::Group;
use crate::progress::no_run;
use crate::slots::{EndFunction, Instance, Known, OnEnd, Sleeper, Ticket};
use crate::thread;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Returns true if a run has ended. Makes a bounded amount of progress, also if it has.
///
/// # Errors
/// There was no such run, or it can't go on.
#[inline]
pub fn test(ticket: Ticket) -> Result<bool> {
    Group::current()?.shared().test(ticket)
}

/// Makes a bounded amount of progress of all runs. If the job can't go on, the next call that needs
/// it says so.
///
/// # Errors
/// The group is not initialized, or is finalized, or this is a registered function.
pub fn progress() -> Result<()> {
    Group::current()?.shared().progress()
}

/// Returns true if a run has ended, without making progress: see [`progress()`].
///
/// # Errors
/// There was no such run, or it can't go on.
pub fn has_ended(ticket: Ticket) -> Result<bool> {
    Group::current()?.shared().with(|core| core.has_ended(ticket))
}

/// Waits until a run has ended. `call` is the name of the caller's call, for a report on a rank
/// that waits for ever.
///
/// # Errors
/// There was no such run, or the job can't go on.
#[inline]
pub fn wait(ticket: Ticket, call: &str) -> Result<()> {
    Group::current()?.shared().wait(ticket, call)
}

/// Waits until one of several runs has ended, and returns its place among them. `call` is as for
/// [`wait`].
///
/// # Errors
/// There is no run, there was no such run, or the job can't go on.
pub fn wait_any(tickets: &[Ticket], call: &str) -> Result<usize> {
    Group::current()?.shared().wait_any(tickets, call)
}

/// Returns true if a thread waits for a run, and notices the ends of all others meanwhile. Takes no
/// lock: it sees at least all waits that had begun or ended when this thread last called
/// [`test()`] or [`when_ended()`].
pub fn has_waiter() -> bool {
    Group::current().is_ok_and(|group| group.shared().has_waiter.load(Ordering::Relaxed))
}

/// Calls `on_end` with true when a run has ended: at once if it has, else in the call of this
/// library that notices it. If the job can't go on meanwhile, calls it with false.
///
/// # Errors
/// There was no such run, or the job can't go on.
pub fn when_ended(ticket: Ticket, on_end: EndFunction) -> Result<()> {
    watch(ticket, OnEnd::Call(on_end))
}

/// Wakes the task in `sleeper` when a run has ended, or can't go on.
pub(crate) fn wake_when_ended(ticket: Ticket, sleeper: Arc<Sleeper>) -> Result<()> {
    watch(ticket, OnEnd::Wake(sleeper))
}

/// Calls `f`. If `f` notices ends of runs, their functions are called when `f` has returned.
/// Callers use this if they hold locks that such functions may take.
pub fn put_off<R>(f: impl FnOnce() -> R) -> R {
    match Group::current() {
        Ok(group) => thread::put_off(group.shared(), f),
        Err(_) => f(),
    }
}

/// Frees what is left of communicators that nobody uses any more. The next one that is made does so
/// too; bindings call this when they have freed something. The caller holds no lock that functions
/// of ends may take.
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
