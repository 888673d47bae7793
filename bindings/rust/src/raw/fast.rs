//! The calls that a program makes most: a linked schedule starts again, and its run ends soon.
//!
//! These functions do nothing that can fail, allocate or wait for long. In every other case they
//! return early without an effect, and the caller takes the usual way.
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
#[inline(always)]
pub fn fast() -> Option<Fast> {
    Group::enter().filter(|core| core.is_plain).map(Fast)
}

impl Schedule {
    /// Lets later calls of [`Fast::start`] find the schedule by the number `key`, if it is linked
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
            if let Some(slot) = bound.first()
                && let Some(binding) = core.slots.binding(slot, addresses)
            {
                core.recent.keep_schedule(key, slot, binding, bound.starts);
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
        let (number, binding, starts) = recent.schedule(key)?;
        let ended = slots.ended_linked(number).filter(|ended| ended.has_binding(binding))?;
        let has_ended = links.start_and_put(ended.run)?;
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
        let has_ended = links.start_and_put(ended.run)?;
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
        slots.end_linked(ticket, |run| links.spin(run, looks_max, Group::is_wanted))
    }
}
