//! Waits until runs have ended. One waiting thread makes progress for all others.

use crate::error::Result;
use crate::progress::{RankCore, no_run};
use crate::shared::{HeldCore, SharedGroup};
use crate::slots::Ticket;
use crate::thread::within_function;
use goal_kernel::CompletionEvents;
use goal_rank::progress::Interrupted;
use std::cell::Cell;
use std::sync::atomic::Ordering;

/// Lets a waiting thread notice when runs in the kernel become silent. The drop of this value ends
/// that.
struct Watching<'a>(Option<&'a CompletionEvents>);

impl Drop for Watching<'_> {
    fn drop(&mut self) {
        if let Some(events) = self.0 {
            events.unwatch();
        }
    }
}

impl SharedGroup {
    /// Waits until a run has ended. `call` names the caller's function in reports.
    ///
    /// # Errors
    /// There was no such run, or the job can't go on.
    #[inline]
    pub(crate) fn wait(&'static self, ticket: Ticket, call: &str) -> Result<()> {
        self.wait_from(self.hold()?, &[ticket], call).map(drop)
    }

    /// Waits until one of several runs has ended, and returns the index of its ticket.
    ///
    /// # Errors
    /// `tickets` is empty, there was no such run, or the job can't go on.
    pub(crate) fn wait_any(&'static self, tickets: &[Ticket], call: &str) -> Result<usize> {
        if tickets.is_empty() {
            return Err(no_run());
        }
        self.wait_from(self.hold()?, tickets, call)
    }

    /// Calls `start`. If this starts a run, waits until the run has ended, and returns its ticket.
    /// Otherwise returns `None`.
    ///
    /// # Errors
    /// The error of `start`, or the job can't go on.
    #[inline]
    pub(crate) fn run(
        &'static self,
        start: impl FnOnce(&mut RankCore) -> Result<Option<Ticket>>,
        call: &str,
    ) -> Result<Option<Ticket>> {
        let mut core = self.hold()?;
        match start(&mut core) {
            Ok(Some(ticket)) => self.wait_from(core, &[ticket], call).map(|_| Some(ticket)),
            other => self.release_after(core, other),
        }
    }

    /// Waits until one of the runs in `tickets` has ended. Returns the index of its ticket. The
    /// caller passes on the engine lock.
    #[inline(never)]
    fn wait_from(
        &'static self,
        mut core: HeldCore,
        tickets: &[Ticket],
        call: &str,
    ) -> Result<usize> {
        loop {
            let looked = self.look(&mut core, tickets, call);
            if let Some(at) = self.release_after(core, looked)? {
                return Ok(at);
            }
            core = self.hold()?;
        }
    }

    /// Returns the index of the first run in `tickets` that has ended. If none has, waits until one
    /// may have ended, or until functions for ends of runs are due. `None` means that the caller
    /// must look again.
    fn look(
        &'static self,
        core: &mut HeldCore,
        tickets: &[Ticket],
        call: &str,
    ) -> Result<Option<usize>> {
        let ended = core.first_ended(tickets)?;
        if ended.is_some() || !core.due.is_empty() {
            return Ok(ended);
        }
        if self.has_waiter.load(Ordering::Relaxed) {
            self.park(core, tickets);
            return Ok(None);
        }
        self.has_waiter.store(true, Ordering::Relaxed);
        let worked = self.work(core, tickets, call);
        self.has_waiter.store(false, Ordering::Relaxed);
        // One of the other waiting threads makes progress from now on.
        self.turned.notify_all();
        worked
    }

    /// Sleeps while another thread waits with the engine lock. The other thread wakes this one when
    /// a run in `tickets` has ended, or when it stops waiting.
    fn park(&'static self, core: &mut HeldCore, tickets: &[Ticket]) {
        core.parked.extend(tickets);
        core.sleepers += 1;
        core.guard().wait(&self.turned);
        core.sleepers -= 1;
        for ticket in tickets {
            if let Some(at) = core.parked.iter().position(|parked| parked == ticket) {
                core.parked.swap_remove(at);
            }
        }
    }

    /// Makes progress and sleeps with the engine lock. Returns when a run in `tickets` has ended,
    /// or when a function for the end of a run is due. Meanwhile passes the lock to threads that
    /// want it, or whose runs have ended. The result is the index of the ended run; `None` if none
    /// has ended.
    fn work(
        &'static self,
        core: &mut HeldCore,
        tickets: &[Ticket],
        call: &str,
    ) -> Result<Option<usize>> {
        let events = core.events();
        let _watching = Watching(events.as_deref());
        loop {
            // Runs in the kernel go on without this process. So the rank counts as waiting only if
            // they are silent. The launcher takes account of the rank's other threads.
            let is_silent = || RankCore::may_wait_for_ever(events.as_ref());
            if let Some(events) = &events {
                events.watch_silence();
            }
            let waits = is_silent();
            let is_in_kernel = !waits && events.as_ref().is_some_and(|events| !events.is_idle());
            if is_in_kernel {
                self.attached.stays(call);
            }
            let threads = core.sleepers + 1;
            // Most runs end without a rest.
            let is_stated = Cell::new(is_in_kernel);
            let state = || {
                if waits && !is_stated.replace(true) {
                    self.attached.waits(call, threads);
                }
            };
            let wanted = || self.wanted.load(Ordering::Relaxed) > 0;
            let is_asked = || self.attached.asks_text();
            let is_wanted = || wanted() || is_asked() || !waits && is_silent();
            let worked = core.work_until(tickets, is_wanted, state);
            if is_stated.get() {
                self.attached.computes();
            }
            let ended = match worked {
                Ok(ended) => ended,
                // Another thread of this process has just entered a call, after this one had found
                // that there is no other.
                Err(Interrupted::Stuck) if wanted() && !self.attached.is_over() => {
                    core.guard().unlocked_fair(std::thread::yield_now);
                    continue;
                }
                Err(interrupted) => return Err(core.error_in(call, &interrupted)),
            };
            if is_asked() {
                self.attached.tell_waits(&core.describe_waiting(call), threads);
            }
            core.advance_linked()?;
            core.reap()?;
            let others = core.unpark_ended()?;
            if others {
                self.turned.notify_all();
            }
            let ended = match ended {
                Some(_) => ended,
                None => core.first_ended(tickets)?,
            };
            if ended.is_some() || !core.due.is_empty() {
                return Ok(ended);
            }
            if let Some(idle) = core.due_idle() {
                core.guard().unlocked_fair(|| within_function(|| idle()));
            } else if others || wanted() {
                core.guard().unlocked_fair(std::thread::yield_now);
            }
        }
    }
}
