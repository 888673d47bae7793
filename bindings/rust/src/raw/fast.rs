//! The calls that a program makes most: a linked schedule starts again, and its run ends soon.
//!
//! These functions do nothing that can fail, allocate or wait for long. In every other case they
//! return early without an effect, and the caller takes the usual way.
#![allow(unsafe_code)] // hands on the contract of a start

use super::Schedule;
use crate::group::Group;
use crate::kept::RawCall;
use crate::progress::RankCore;
use crate::shared::Entered;
use crate::slots::{Slots, Ticket};

/// The engine lock, held for a short call of this thread.
pub struct Fast(Entered);

/// Takes the engine lock for a short call. Returns `None` if another thread has or wants it, if
/// this thread has it already, or if this process has no group that goes on.
#[inline(always)]
pub fn fast() -> Option<Fast> {
    Group::current().ok()?.shared().enter().filter(|core| core.is_plain()).map(Fast)
}

/// Calls `f` while no call of [`fast()`] is under way in another thread.
pub fn without_fast<R>(f: impl FnOnce() -> R) -> R {
    let held = Group::current().ok().and_then(|group| group.shared().hold().ok());
    let result = f();
    if let (Some(held), Ok(group)) = (held, Group::current()) {
        group.shared().release(held);
    }
    result
}

impl Fast {
    /// Starts a schedule as [`Schedule::start`] does, if it is linked, and ran before on these
    /// buffers. Otherwise returns `None`.
    ///
    /// # Safety
    /// As for [`Schedule::start`].
    #[inline(always)]
    pub unsafe fn start(
        &mut self,
        schedule: &Schedule,
        buffers: Option<&[usize]>,
    ) -> Option<Ticket> {
        let bound = &schedule.bound;
        let number = bound.first().filter(|_| bound.linked.is_some())?;
        let ticket = self.0.start_linked(number, buffers.unwrap_or(bound.defaults()))?;
        bound.count();
        Some(ticket)
    }

    /// Starts a collective that was called with these arguments before. Returns `None` if nothing
    /// was started.
    ///
    /// # Safety
    /// As for [`Collective::start`](crate::Collective::start).
    #[inline(always)]
    pub unsafe fn call(&mut self, call: &RawCall, input: usize, output: usize) -> Option<Ticket> {
        let (number, starts) = self.0.calls.find(call)?;
        let both = [input, output];
        let buffers = if call.in_place { &both[1..] } else { &both };
        let ticket = self.0.start_linked(number, buffers)?;
        starts.count();
        Some(ticket)
    }

    /// Returns true if a linked run has ended, or ends within about a microsecond.
    #[inline(always)]
    pub fn wait(&mut self, ticket: Ticket) -> bool {
        self.0.spin_linked(ticket)
    }
}

impl RankCore {
    /// Returns true if nothing but linked runs can be under way, nobody else awaits their ends, and
    /// the job goes on.
    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.slots.are_all_linked()
            && self.slots.watched.is_empty()
            && self.parked.is_empty()
            && self.failure.is_none()
            && self.generation() == 0
    }

    /// Starts the linked instance in slot `number` again, if it has ended and is bound to these
    /// addresses.
    #[inline(always)]
    fn start_linked(&mut self, number: u32, addresses: &[usize]) -> Option<Ticket> {
        if self.links.is_behind() {
            return None;
        }
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
