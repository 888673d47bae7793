//! The calls that a program makes most: a linked schedule starts again, and its run ends soon.
//!
//! These functions do nothing that can fail, allocate or wait for long. In every other case they
//! return early without an effect, and the caller takes the usual way.
#![allow(unsafe_code)] // hands on the contract of a start

use super::Schedule;
use crate::group::Group;
use crate::kept::RawCall;
use crate::progress::RankCore;
use crate::slots::{Slots, Ticket};

impl Schedule {
    /// Starts the schedule as [`start`](Self::start) does, if it is linked, and ran before on these
    /// buffers. Otherwise returns `None`.
    ///
    /// # Safety
    /// As for [`start`](Self::start).
    #[inline(always)]
    pub unsafe fn start_fast(&self, buffers: Option<&[usize]>) -> Option<Ticket> {
        let mut core = Group::current().ok()?.shared().enter()?;
        // SAFETY: as the caller says.
        unsafe { self.start_fast_in(&mut core, buffers) }
    }

    /// Starts the schedule as [`start_fast`](Self::start_fast) does, for a caller that holds the
    /// engine lock.
    ///
    /// # Safety
    /// As for [`start`](Self::start).
    #[inline(always)]
    unsafe fn start_fast_in(
        &self,
        core: &mut RankCore,
        buffers: Option<&[usize]>,
    ) -> Option<Ticket> {
        let bound = &self.bound;
        let number = bound.first().filter(|_| bound.linked.is_some() && core.is_plain())?;
        let addresses = buffers.unwrap_or(bound.defaults());
        let ticket = core.start_linked(number, addresses)?;
        bound.count();
        Some(ticket)
    }

    /// Runs the schedule as [`run`](Self::run) does, if it is linked and ran before on these
    /// buffers. Returns `None` if nothing was started, and the ticket with true if the run has
    /// ended already.
    ///
    /// # Safety
    /// As for [`start`](Self::start).
    #[inline(always)]
    pub unsafe fn run_fast(&self, buffers: Option<&[usize]>) -> Option<(Ticket, bool)> {
        let mut core = Group::current().ok()?.shared().enter()?;
        // SAFETY: as the caller says.
        let ticket = unsafe { self.start_fast_in(&mut core, buffers)? };
        Some((ticket, core.spin_linked(ticket)))
    }
}

/// Returns true if a linked run has ended, or ends within about a microsecond.
#[inline(always)]
pub fn wait_fast(ticket: Ticket) -> bool {
    let core = Group::current().ok().and_then(|group| group.shared().enter());
    core.is_some_and(|mut core| core.is_plain() && core.spin_linked(ticket))
}

/// Runs a collective that was called with these arguments before. Returns `None` if nothing was
/// started, and the ticket with true if the run has ended already.
///
/// # Safety
/// As for [`Collective::start`](crate::Collective::start).
#[inline(always)]
pub unsafe fn call_fast(call: &RawCall, input: usize, output: usize) -> Option<(Ticket, bool)> {
    let mut core = Group::current().ok()?.shared().enter()?;
    // SAFETY: as the caller says.
    let ticket = unsafe { start_call(&mut core, call, input, output)? };
    Some((ticket, core.spin_linked(ticket)))
}

/// Starts a collective that was called with these arguments before. Returns `None` if nothing was
/// started.
///
/// # Safety
/// As for [`Collective::start`](crate::Collective::start).
#[inline(always)]
pub unsafe fn start_call_fast(call: &RawCall, input: usize, output: usize) -> Option<Ticket> {
    let mut core = Group::current().ok()?.shared().enter()?;
    // SAFETY: as the caller says.
    unsafe { start_call(&mut core, call, input, output) }
}

#[inline(always)]
unsafe fn start_call(
    core: &mut RankCore,
    call: &RawCall,
    input: usize,
    output: usize,
) -> Option<Ticket> {
    if !core.is_plain() {
        return None;
    }
    let (number, starts) = core.calls.find(call)?;
    let both = [input, output];
    let ticket = core.start_linked(number, if call.in_place { &both[1..] } else { &both })?;
    starts.count();
    Some(ticket)
}

impl RankCore {
    /// Returns true if nothing but linked runs can be under way, and the job goes on.
    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.slots.are_all_linked() && self.failure.is_none() && self.generation() == 0
    }

    /// Starts the linked instance in slot `number` again, if it has ended and is bound to these
    /// addresses.
    #[inline(always)]
    fn start_linked(&mut self, number: u32, addresses: &[usize]) -> Option<Ticket> {
        let mut parked = self.slots.parked(number).filter(|parked| parked.is_bound(addresses))?;
        self.links.start(parked.linked());
        // An error is met again, and told, by the function that waits.
        let has_ended = matches!(self.links.poll(parked.linked()), Ok(true));
        let ticket = parked.restarted();
        if has_ended {
            self.note_end(number);
        }
        Some(ticket)
    }

    /// Looks for the messages of a linked run for about a microsecond. Returns true if the run has
    /// ended.
    #[inline(always)]
    fn spin_linked(&mut self, ticket: Ticket) -> bool {
        let number = Slots::number(ticket);
        for look in 0..self.looks {
            match self.slots.linked_of(ticket) {
                None => return self.slots.has_ended(ticket),
                Some(run) => match self.links.poll(run) {
                    Ok(false) => {}
                    Ok(true) => {
                        self.note_end(number);
                        return true;
                    }
                    Err(_) => return false,
                },
            }
            if look >= LOOKS_WITHOUT_PAUSE {
                std::hint::spin_loop();
            }
        }
        false
    }
}

/// The looks before the processor pauses between two looks.
const LOOKS_WITHOUT_PAUSE: u32 = 32;
