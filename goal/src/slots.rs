//! The instances of a process: running ones, and ended ones that can start again.

use goal_engine::Handle;
use std::any::Any;
use std::sync::Arc;

/// A run of a schedule. It stays valid for ever: a run that has been followed by another one on the
/// same instance has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ticket {
    slot: u32,
    /// The number of the run on its slot, from 1 on.
    run: u32,
}

impl Ticket {
    /// Returns the ticket as a number that is not 0.
    pub const fn to_number(self) -> u64 {
        (self.slot as u64) << 32 | self.run as u64
    }

    /// Returns the ticket of a number; `None` if it is not one of a ticket.
    pub const fn from_number(number: u64) -> Option<Self> {
        match number as u32 {
            0 => None,
            run => Some(Self { slot: (number >> 32) as u32, run }),
        }
    }
}

/// The state of a slot.
#[derive(Debug)]
enum State {
    /// No schedule uses it.
    Free,
    /// The instance runs, as far as is known.
    Running(Handle),
    /// The instance has ended and can start again.
    Parked(Handle),
}

/// An instance of a schedule.
pub(crate) struct Slot {
    state: State,
    /// The number of its last run.
    run: u32,
    /// Kept while an instance of it is there.
    schedule: Option<Schedule>,
    /// Called when the run has ended.
    pub(crate) on_end: Option<OnEnd>,
}

/// The schedule of an instance, and what that needs.
pub(crate) type Schedule = Arc<dyn Any + Send + Sync>;

/// A function that is called once when a run has ended.
pub(crate) type OnEnd = Box<dyn FnOnce() + Send>;

/// All slots of a process.
#[derive(Default)]
pub(crate) struct Slots {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Slots with a function to call at the end of their run.
    pub(crate) watched: Vec<u32>,
}

/// The answer on a ticket.
pub(crate) enum Known {
    /// There was no such run.
    Never,
    /// It has ended.
    Ended,
    /// It runs, as far as is known.
    Running,
}

impl Slots {
    /// Returns what is known of a run.
    #[inline]
    pub(crate) fn known(&self, ticket: Ticket) -> Known {
        match self.slots.get(ticket.slot as usize) {
            Some(slot) if slot.run == ticket.run => match &slot.state {
                State::Running(_) => Known::Running,
                State::Parked(_) | State::Free => Known::Ended,
            },
            // The distance, so that numbers may wrap around.
            Some(slot) if slot.run.wrapping_sub(ticket.run) as i32 > 0 => Known::Ended,
            _ => Known::Never,
        }
    }

    /// Adds an instance that runs for the first time.
    pub(crate) fn add(&mut self, handle: Handle, schedule: Schedule) -> Ticket {
        let number = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { state: State::Free, run: 0, schedule: None, on_end: None });
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[number as usize];
        slot.schedule = Some(schedule);
        slot.state = State::Running(handle);
        slot.run = next(slot.run);
        Ticket { slot: number, run: slot.run }
    }

    /// Returns the handle of a parked instance, which the caller starts again.
    #[inline]
    pub(crate) fn parked(&mut self, number: u32) -> Option<&mut Handle> {
        match &mut self.slots[number as usize].state {
            State::Parked(handle) => Some(handle),
            State::Running(_) | State::Free => None,
        }
    }

    /// Notes that a parked instance runs again.
    #[inline]
    pub(crate) fn restarted(&mut self, number: u32) -> Ticket {
        let slot = &mut self.slots[number as usize];
        if let State::Parked(handle) = std::mem::replace(&mut slot.state, State::Free) {
            slot.state = State::Running(handle);
        }
        slot.run = next(slot.run);
        Ticket { slot: number, run: slot.run }
    }

    /// Returns the handle of an instance that runs, as far as is known.
    #[inline]
    pub(crate) fn running(&self, number: u32) -> Option<&Handle> {
        match &self.slots[number as usize].state {
            State::Running(handle) => Some(handle),
            State::Parked(_) | State::Free => None,
        }
    }

    /// Notes that the run of a ticket has ended. Returns the function to call.
    #[inline]
    pub(crate) fn ended(&mut self, number: u32) -> Option<OnEnd> {
        let slot = &mut self.slots[number as usize];
        if let State::Running(handle) = std::mem::replace(&mut slot.state, State::Free) {
            slot.state = State::Parked(handle);
        }
        let on_end = slot.on_end.take()?;
        self.watched.retain(|&watched| watched != number);
        Some(on_end)
    }

    /// Sets the function that is called at the end of a run that has not ended.
    pub(crate) fn watch(&mut self, ticket: Ticket, on_end: OnEnd) {
        let slot = &mut self.slots[ticket.slot as usize];
        slot.on_end = Some(match slot.on_end.take() {
            None => on_end,
            Some(before) => Box::new(move || {
                before();
                on_end();
            }),
        });
        if !self.watched.contains(&ticket.slot) {
            self.watched.push(ticket.slot);
        }
    }

    /// Frees the slot of a parked instance and returns its handle.
    pub(crate) fn release(&mut self, number: u32) -> Option<Handle> {
        let slot = &mut self.slots[number as usize];
        match std::mem::replace(&mut slot.state, State::Free) {
            State::Parked(handle) => {
                slot.schedule = None;
                self.free.push(number);
                Some(handle)
            }
            other => {
                slot.state = other;
                None
            }
        }
    }

    /// The slots whose instances run, as far as is known.
    pub(crate) fn all_running(&self) -> impl Iterator<Item = (u32, &Handle)> {
        (0..).zip(&self.slots).filter_map(|(number, slot)| match &slot.state {
            State::Running(handle) => Some((number, handle)),
            State::Parked(_) | State::Free => None,
        })
    }

    /// Frees all slots of parked instances and returns their handles.
    pub(crate) fn release_all(&mut self) -> Vec<Handle> {
        (0..self.slots.len() as u32).filter_map(|number| self.release(number)).collect()
    }

    /// The slot of a ticket.
    pub(crate) fn number(ticket: Ticket) -> u32 {
        ticket.slot
    }
}

/// The number of the next run. It is never 0.
fn next(run: u32) -> u32 {
    run.checked_add(1).unwrap_or(1)
}
