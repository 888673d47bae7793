//! The instances of a process: running ones, and ended ones that can start again.

use goal_engine::Handle;
use parking_lot::Mutex;
use std::any::Any;
use std::sync::Arc;
use std::task::Waker;

/// A run of a schedule. It stays valid: a run that has been followed by another one on the same
/// instance has ended. The numbers of runs wrap around, so after 2^32 - 1 further runs the same
/// instance has one with an equal ticket.
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
    /// True once numbers have wrapped around: every other number is that of an ended run then.
    has_wrapped: bool,
    /// Kept while an instance of it is there.
    schedule: Option<Schedule>,
    /// Called when the run has ended.
    on_end: Vec<OnEnd>,
}

/// The schedule of an instance, and what that needs.
pub(crate) type Schedule = Arc<dyn Any + Send + Sync>;

/// A function that is called once: with true when a run has ended, or with false when the job can't
/// go on. Peers may use the memory of such a run for ever.
pub type EndFunction = Box<dyn FnOnce(bool) + Send>;

/// A task that waits for a run.
pub(crate) type Sleeper = Mutex<Option<Waker>>;

/// The ways to tell that a run has ended.
pub(crate) enum OnEnd {
    /// A function to call.
    Call(EndFunction),
    /// A task to wake.
    Wake(Arc<Sleeper>),
}

/// A way to tell of a run, and true if it has ended, or false if it can't go on.
pub(crate) struct Due(pub(crate) OnEnd, pub(crate) bool);

impl Due {
    /// Calls the function, or wakes the task.
    pub(crate) fn call(self) {
        match self.0 {
            OnEnd::Call(function) => function(self.1),
            OnEnd::Wake(sleeper) => wake(&sleeper),
        }
    }
}

/// Wakes a task.
pub(crate) fn wake(sleeper: &Sleeper) {
    let waker = sleeper.lock().take();
    if let Some(waker) = waker {
        waker.wake();
    }
}

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
            Some(slot) if slot.has_wrapped || ticket.run < slot.run => Known::Ended,
            _ => Known::Never,
        }
    }

    /// Adds an instance that runs for the first time.
    pub(crate) fn add(&mut self, handle: Handle, schedule: Schedule) -> Ticket {
        let number = self.free.pop().unwrap_or_else(|| {
            let (state, run, has_wrapped) = (State::Free, 0, false);
            self.slots.push(Slot { state, run, has_wrapped, schedule: None, on_end: Vec::new() });
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[number as usize];
        slot.schedule = Some(schedule);
        slot.state = State::Running(handle);
        slot.count();
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
        slot.count();
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

    /// Notes that the run of a slot has ended. Returns the functions to call.
    #[inline]
    pub(crate) fn ended(&mut self, number: u32) -> Vec<OnEnd> {
        let slot = &mut self.slots[number as usize];
        if let State::Running(handle) = std::mem::replace(&mut slot.state, State::Free) {
            slot.state = State::Parked(handle);
        }
        if !slot.on_end.is_empty() {
            self.watched.retain(|&watched| watched != number);
        }
        std::mem::take(&mut slot.on_end)
    }

    /// Adds a function that is called at the end of a run that has not ended.
    pub(crate) fn watch(&mut self, ticket: Ticket, on_end: OnEnd) {
        let slot = &mut self.slots[ticket.slot as usize];
        if slot.on_end.is_empty() {
            self.watched.push(ticket.slot);
        }
        slot.on_end.push(on_end);
    }

    /// Takes all functions out: no run goes on.
    pub(crate) fn give_up(&mut self) -> Vec<OnEnd> {
        let watched = std::mem::take(&mut self.watched);
        let slots = &mut self.slots;
        watched.into_iter().flat_map(|at| std::mem::take(&mut slots[at as usize].on_end)).collect()
    }

    /// The tasks that wait for runs.
    pub(crate) fn sleepers(&self) -> Vec<Arc<Sleeper>> {
        let watched = self.watched.iter().flat_map(|&at| &self.slots[at as usize].on_end);
        let sleeper = |on_end: &OnEnd| match on_end {
            OnEnd::Wake(sleeper) => Some(Arc::clone(sleeper)),
            OnEnd::Call(_) => None,
        };
        watched.filter_map(sleeper).collect()
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

impl Slot {
    /// Gives the next run its number, which is never 0.
    #[inline]
    fn count(&mut self) {
        let next = self.run.checked_add(1);
        self.has_wrapped |= next.is_none();
        self.run = next.unwrap_or(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_stays_valid_when_numbers_wrap_around() {
        let (state, run) = (State::Free, u32::MAX - 1);
        let slot = Slot { state, run, has_wrapped: false, schedule: None, on_end: Vec::new() };
        let mut slots = Slots { slots: vec![slot], ..Slots::default() };
        let ended =
            |slots: &Slots, run| matches!(slots.known(Ticket { slot: 0, run }), Known::Ended);
        assert!(ended(&slots, u32::MAX - 1) && ended(&slots, 1) && !ended(&slots, u32::MAX));
        for last in [u32::MAX, 1, 2] {
            slots.slots[0].count();
            assert_eq!(slots.slots[0].run, last);
            assert!([1, 2, 1 << 31, u32::MAX].iter().all(|&run| ended(&slots, run)), "{last}");
        }
    }
}
