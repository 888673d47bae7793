//! The calls that a program makes most: a linked schedule starts again, and its run ends soon.
//!
//! These functions neither fail nor allocate, and wait for 50 microseconds at most. If a start
//! returns early, it has had no effect. A test or a wait may have executed operations of its run
//! before it returns false. The caller then takes the usual way.
//!
//! [`start`] and [`wait`] execute tiny runs on the spot, and keep few values meanwhile. They hand
//! the held lock to another function for all other runs.
#![allow(unsafe_code)] // hands on the contract of a start

use super::Schedule;
use crate::error::Result;
use crate::group::Group;
use crate::links::LOOKS_BEFORE_IDLE;
use crate::progress::RankCore;
use crate::recent::RawCall;
use crate::shared::Entered;
use crate::slots::{EndedLinked, Ticket};

/// The engine lock, held for a short call of this thread.
pub struct Fast(Entered);

/// Takes the engine lock for a short call. Returns `None` if another thread has or wants it, if
/// this thread has it already, or if something else than linked runs may be under way.
#[inline]
pub fn fast() -> Option<Fast> {
    Group::enter().or_else(Group::enter_by_mutex).filter(|core| core.is_plain).map(Fast)
}

/// Starts the schedule with this number again on the buffers that it was remembered with. Returns
/// what `started` makes of its run, or if nothing was started, what `otherwise` returns.
///
/// # Safety
/// As for [`Schedule::start`].
#[inline(always)]
pub unsafe fn start<R>(
    key: usize,
    started: impl Fn(Ticket) -> R,
    otherwise: impl FnOnce() -> R,
) -> R {
    let Some(mut core) = Group::enter().filter(|core| core.is_plain) else {
        // SAFETY: as the caller says.
        return unsafe { start_by_mutex(key, started, otherwise) };
    };
    let RankCore { recent, slots, links, .. } = &mut *core;
    let Some((number, ended, starts)) = recent.schedule(key) else {
        drop(core);
        return otherwise();
    };
    if let Some(ended) = slots.ended_linked_in(number, ended)
        && let Some((sleepers, has_ended)) = links.start_tiny(ended.run)
    {
        starts.count();
        let run = started(ended.started(has_ended));
        return if sleepers == 0 { run } else { after_wake(Fast(core), sleepers, run) };
    }
    // SAFETY: as the caller says.
    unsafe { start_any(Fast(core), key, started, otherwise) }
}

/// Wakes these ranks, and returns `run`.
#[cold]
#[inline(never)]
fn after_wake<R>(fast: Fast, sleepers: u64, run: R) -> R {
    fast.0.links.wake(sleepers);
    run
}

/// Goes on with [`start`] if this thread does not own the bias of the lock.
#[cold]
#[inline(never)]
unsafe fn start_by_mutex<R>(
    key: usize,
    started: impl Fn(Ticket) -> R,
    otherwise: impl FnOnce() -> R,
) -> R {
    match fast() {
        // SAFETY: as the caller says.
        Some(fast) => unsafe { start_any(fast, key, started, otherwise) },
        None => otherwise(),
    }
}

/// Goes on with [`start`] for a run of any kind.
#[inline(never)]
unsafe fn start_any<R>(
    mut fast: Fast,
    key: usize,
    started: impl Fn(Ticket) -> R,
    otherwise: impl FnOnce() -> R,
) -> R {
    // SAFETY: as the caller says.
    let run = unsafe { fast.start(key) };
    drop(fast);
    run.map_or_else(otherwise, started)
}

/// Returns `ended` if a linked run has ended, or ends within about 50 microseconds. The wait is
/// shorter if ranks share processors, or if another thread wants the lock. Returns what `otherwise`
/// returns if the run goes on, or is not linked.
#[inline(always)]
pub fn wait<R>(ticket: Ticket, ended: R, otherwise: impl FnOnce() -> R) -> R {
    let Some(mut core) = Group::enter().filter(|core| core.is_plain) else {
        return wait_by_mutex(ticket, ended, otherwise);
    };
    let RankCore { slots, links, .. } = &mut *core;
    if slots.end_linked(ticket, |run| links.read_tiny(run)) {
        return ended;
    }
    wait_any(Fast(core), ticket, ended, otherwise)
}

/// Goes on with [`wait`] if this thread does not own the bias of the lock.
#[cold]
#[inline(never)]
fn wait_by_mutex<R>(ticket: Ticket, ended: R, otherwise: impl FnOnce() -> R) -> R {
    match fast() {
        Some(fast) => wait_any(fast, ticket, ended, otherwise),
        None => otherwise(),
    }
}

/// Goes on with [`wait`] for a run of any kind.
#[inline(never)]
fn wait_any<R>(mut fast: Fast, ticket: Ticket, ended: R, otherwise: impl FnOnce() -> R) -> R {
    let has_ended = fast.wait(ticket);
    drop(fast);
    if has_ended { ended } else { otherwise() }
}

impl Schedule {
    /// Lets later calls of [`start`] find the schedule by the number `key`, if it is linked
    /// and has run on the buffers at `addresses`.
    ///
    /// # Errors
    /// The engine lock can't be taken.
    pub fn remember(&self, key: usize, addresses: Option<&[usize]>) -> Result<()> {
        let bound = &self.bound;
        if bound.linked.get().is_none() {
            return Ok(());
        }
        bound.group.shared().with(|core| {
            let addresses = addresses.unwrap_or(bound.defaults());
            if let Some(slot) = bound.instances.last()
                && let Some(ended) = core.slots.ended_use(slot, addresses)
            {
                core.recent.keep_schedule(key, slot, ended, bound.starts);
            }
            Ok(())
        })
    }
}

impl Fast {
    /// Starts the schedule with this number again on the buffers that it was remembered with.
    /// Returns `None` if nothing was started.
    ///
    /// # Safety
    /// As for [`Schedule::start`].
    #[inline(always)]
    pub unsafe fn start(&mut self, key: usize) -> Option<Ticket> {
        let RankCore { recent, slots, links, .. } = &mut *self.0;
        let (number, ended, starts) = recent.schedule(key)?;
        let ended = slots.ended_linked_in(number, ended)?;
        let has_ended = links.start_quickly(ended.run)?;
        starts.count();
        Some(ended.started(has_ended))
    }

    /// Starts a collective that was called with these arguments and buffers before. Returns `None`
    /// if nothing was started.
    ///
    /// # Safety
    /// As for [`Collective::start`](crate::Collective::start).
    #[inline(always)]
    pub unsafe fn call(&mut self, call: &RawCall, input: usize, output: usize) -> Option<Ticket> {
        let RankCore { recent, slots, links, .. } = &mut *self.0;
        let (number, starts) = recent.call(call)?;
        let is_bound = |ended: &EndedLinked<'_>| ended.is_bound_to(call.in_place, input, output);
        let ended = slots.ended_linked(number).filter(is_bound)?;
        let has_ended = links.start_quickly(ended.run)?;
        starts.count();
        Some(ended.started(has_ended))
    }

    /// Returns true if a linked run had not ended when it was looked at last, and has ended now.
    #[inline(always)]
    pub fn test(&mut self, ticket: Ticket) -> bool {
        let RankCore { slots, links, .. } = &mut *self.0;
        slots.linked_of(ticket).is_some()
            && slots.end_linked(ticket, |run| links.poll(run) == Ok(true))
    }

    /// Returns true if a linked run has ended, or ends within about 50 microseconds. The wait is
    /// shorter if ranks share processors, or if another thread wants the lock.
    #[inline(always)]
    pub fn wait(&mut self, ticket: Ticket) -> bool {
        let RankCore { slots, links, idle, .. } = &mut *self.0;
        let looks_max = if idle.is_some() { LOOKS_BEFORE_IDLE } else { u32::MAX };
        let spin =
            |run: &mut _| links.read_tiny(run) || links.spin(run, looks_max, Group::is_wanted);
        slots.end_linked(ticket, spin)
    }
}
